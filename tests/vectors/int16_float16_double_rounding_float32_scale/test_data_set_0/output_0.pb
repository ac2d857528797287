
ByJ zöÄt4ôvÆöVu¸ö tTôltjõút`ô~u„ôtt

ByJ жbeЇзveдежeЮдeќдƒd0з8dVд.eжXg
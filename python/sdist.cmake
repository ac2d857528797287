# Copies of the library's tree what a wheel is made of, into library/, which the sdist includes.
set(copy ${CMAKE_CURRENT_SOURCE_DIR}/library)
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/PKG-INFO)
  return() # an sdist made of an sdist
endif()
file(REMOVE_RECURSE ${copy})
foreach(part CMakeLists.txt LICENSE cmake include man src tools plugins/onnxruntime)
  get_filename_component(folder ${part} DIRECTORY)
  file(COPY ${library}/${part} DESTINATION ${copy}/${folder}
    PATTERN "tests" EXCLUDE PATTERN "__pycache__" EXCLUDE PATTERN "*.py" EXCLUDE PATTERN "*.sh" EXCLUDE)
endforeach()

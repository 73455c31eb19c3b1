# What the build of llama-cpp-python leaves out for this project: included by llama.cpp's own project() call
# (CMAKE_PROJECT_llama.cpp_INCLUDE), since llama-cpp-python forces the option on in the cache.
set(LLAMA_BUILD_COMMON OFF)

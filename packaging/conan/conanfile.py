# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# A package for Conan 2, of the tree around this file: conan create packaging/conan
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.scm import Version

required_conan_version = ">=2.0.5"


class Cogwheel(ConanFile):
    name = "cogwheel"
    description = "Timers, timeouts and retries for Asio: a hashed timing wheel on an io_context"
    license = "BSL-1.0"
    topics = ("asio", "timer", "timeout", "retry", "timing-wheel")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "asio": ["standalone", "boost", "both"],
        "calendar": [True, False],
        "tasks": [True, False],
        "observe": [True, False],
        "durable": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "asio": "standalone",
        "calendar": True,
        "tasks": True,
        "observe": True,
        "durable": False,
    }
    implements = ["auto_shared_fpic"]

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    # The Asios that it is built for, each with the prefix of its components.
    @property
    def _asios(self):
        return {"standalone": [""], "boost": ["boost_"], "both": ["", "boost_"]}[str(self.options.asio)]

    def set_version(self):
        text = load(self, os.path.join(self._root, "CMakeLists.txt"))
        self.version = re.search(r"^project\(cogwheel VERSION ([0-9.]+)", text, re.MULTILINE).group(1)

    def export_sources(self):
        for name in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, name, self._root, self.export_sources_folder)

    # What docs/platforms.md names; of its platforms, this recipe has been tried on Linux alone.
    def validate(self):
        check_min_cppstd(self, 20)
        compiler = str(self.settings.compiler)
        oldest = {"gcc": "12", "clang": "16"}.get(compiler)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"cogwheel's recipe has been tried on Linux, and not on {self.settings.os}")
        if oldest is None or Version(self.settings.compiler.version) < oldest:
            raise ConanInvalidConfiguration(f"cogwheel needs gcc 12, clang 16, or later, and this is {compiler} {self.settings.compiler.version}")
        if self.options.tasks and self.settings.get_safe("compiler.libcxx") == "libc++":
            raise ConanInvalidConfiguration("the option tasks needs <stop_token>, which libc++ 16 does not have: tasks=False")
        if self.options.tasks and not self.options.calendar:
            raise ConanInvalidConfiguration("the option tasks needs the option calendar")
        if self.options.durable and not self.options.tasks:
            raise ConanInvalidConfiguration("the option durable needs the option tasks")

    def requirements(self):
        if "" in self._asios:
            self.requires("asio/[>=1.22.1 <2]", transitive_headers=True)
        if "boost_" in self._asios:
            self.requires("boost/[>=1.78 <2]", transitive_headers=True)
        if self.options.durable:
            self.requires("libcurl/[>=7.85 <9]")
            self.requires("openssl/[>=3 <4]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("calendar", "tasks", "observe", "durable"):
            toolchain.cache_variables[f"COGWHEEL_BUILD_{part.upper()}"] = bool(getattr(self.options, part))
        asio = str(self.options.asio)
        toolchain.cache_variables["COGWHEEL_ASIO"] = "standalone;boost" if asio == "both" else asio
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))  # Conan writes its own
        rmdir(self, os.path.join(self.package_folder, "share"))
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # Users of CMake find the files that the installation brings: they know each component, and what it needs.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self._component("wheel", [])
        self.cpp_info.components["wheel"].builddirs = [os.path.join("lib", "cmake", "cogwheel")]
        for prefix in self._asios:
            core = "boost" if prefix else "cogwheel"
            self._component(core, ["wheel", "boost::headers" if prefix else "asio::asio"])
            self.cpp_info.components[core].system_libs = ["pthread"]
            self.cpp_info.components[core].defines = ["COGWHEEL_BOOST"] if prefix else ["ASIO_STANDALONE"]
            needs = {"observe": [core], "calendar": [core], "tasks": [prefix + "calendar"], "durable": [prefix + "tasks"]}
            needs["durable"] += ["libcurl::libcurl", "openssl::openssl"]
            for part, requires in needs.items():
                if self.options.get_safe(part):
                    self._component(prefix + part, requires)

    def _component(self, name, requires):
        component = self.cpp_info.components[name]
        library = "cogwheel" if name == "cogwheel" else f"cogwheel_{name}"
        component.set_property("pkg_config_name", library.replace("_", "-"))
        component.libs = [library]
        component.requires = requires

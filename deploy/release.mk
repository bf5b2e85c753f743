# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Packages, images and releases.
.PHONY: version image deps-release deb rpm manifests chart check-manifests release check-release check-packages

version: ## print the version
	@echo $(VERSION)

image: $(B)/xidscope ## build the container image build/xidscope-oci.tar
	$(Q)deploy/container/build.sh $(B)/xidscope-oci.tar $(B)/xidscope

# Files of a release have the time of its day.
release_time := $(shell date -u -d '$(lastword $(release))' +%s)

deps-release: deps ## install what packages, images and releases need beyond that (as root)
	$(Q)tests/deps.sh --only '$(release_packages)'
deb_packages := build-essential debhelper
release_packages := $(deb_packages) lintian rpm rpmlint buildah skopeo docker-registry gnupg file autopkgtest piuparts qemu-user-static containerd \
	$(if $(shell command -v npm),,npm)

deb: ## build the Debian package for ARCH into build/deb, and check it with lintian if that is installed
	$(Q)tests/deps.sh --build '$(deb_packages)' $(addprefix --for ,$(CROSS))
	$(Q)deploy/debian.sh $(TARGET) $(VERSION) $(release_time) $(CURDIR)/build/deb

rpm: deb ## build the RPM for ARCH into build/rpm, from the Debian package, and check it with rpmlint if that is installed
	$(Q)tests/deps.sh --only rpm
	$(Q)deploy/rpm.sh build/deb/xidscope_$(VERSION)_$(TARGET).deb $(release_time) $(CURDIR)/build/rpm

kubectl = $(shell tests/vm/tool.sh kubernetes-client usr/bin/kubectl)
# Where nodes will get the image from, in the manifests.
REGISTRY ?= registry.example.org

manifests: ## render the Kubernetes manifests into build/manifests, with the image REGISTRY/xidscope:VERSION
	$(Q)deploy/kubernetes/render.sh '$(kubectl)' '$(REGISTRY)/xidscope:$(VERSION)' $(VERSION) build/manifests

chart: ## pack the Helm chart into build/xidscope-VERSION.tgz, with the image REGISTRY/xidscope
	$(Q)mkdir -p build && deploy/helm/package.sh $(VERSION) '$(REGISTRY)/xidscope' build/xidscope-$(VERSION).tgz

check-manifests: manifests ## compare manifests and chart with the types of Kubernetes and with each other, by programs from npm
	$(Q)tests/kubernetes/check.sh
	$(Q)tests/kubernetes/chart.sh

build_of = build$(if $(filter-out $(HOST),$(1)),/$(1))
release: deps-release ## build all that a release has into build/release: packages, tarballs, images, manifests, rules, SBOMs
	$(Q)set -e; for arch in amd64 arm64; do \
		$(MAKE) --no-print-directory ARCH=$$arch deps; \
		$(MAKE) --no-print-directory ARCH=$$arch -j "$$(nproc)" all; \
		$(MAKE) --no-print-directory ARCH=$$arch rpm; \
	done
	$(Q)deploy/release.sh $(VERSION) $(release_time) '$(kubectl)' '$(REGISTRY)' $(CURDIR)/build/release \
		$(foreach arch,amd64 arm64,$(arch)=$(call build_of,$(arch)))

check-release: ## build the release twice, in two folders, compare, and try image, packages and manifests (ten minutes)
	$(Q)tests/release/check.sh $(VERSION)

# Upgrades are tested from the same sources, built as version 0.0.1, and back.
check-packages: $(B)/xidscope rpm ## upgrade, roll back and remove under load: packages, unit and tarball in guests (half an hour, as root)
	$(Q)tests/cli/uninstall.sh
	$(Q)$(MAKE) --no-print-directory B=build/older VERSION=0.0.1 all
	$(Q)export TIMEOUT=$${TIMEOUT:-3600}; tests/vm/check.sh --only 'package rpm systemd' 6.1 && \
		tests/vm/check.sh --only tarball 5.10

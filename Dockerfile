# SPDX-License-Identifier: Apache-2.0
# vtencode in a small image:
#
#   docker build --tag vtencode .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/movies" vtencode transcoding movie.mov --out small.mp4
#
# TRAITS=default,Display,X265,X264 adds libx264 and libx265; such an image is under the GPL as a whole.
FROM swift:6.2-bookworm AS build
ARG TRAITS=
WORKDIR /source
COPY . .
# It installs what is missing, make too. lintian stays out, and with it the check of the packages.
RUN scripts/make build TRAITS="$TRAITS" \
  && scripts/install-dependencies.sh --packaging \
  && DEBFULLNAME="OpenVideoToolbox" DEBEMAIL="root@localhost" SOURCE_DATE_EPOCH="$(stat -c %Y Package.swift)" \
    scripts/build-deb $(case "$TRAITS" in *X265*) echo --gpl ;; esac) --out /packages \
    .build/release/vtencode .build/checkouts

FROM debian:bookworm-slim
RUN --mount=type=bind,from=build,source=/packages,target=/packages \
  apt-get update \
  && apt-get install -y --no-install-recommends /packages/*.deb \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /movies
ENTRYPOINT ["vtencode"]
CMD ["--help"]

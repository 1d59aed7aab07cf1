# Stands in for the postgres image of a registry: the embedded PostgreSQL of Towpath's own image, with the settings that the
# compose file uses.
ARG IMAGE
FROM ${IMAGE}
USER root
COPY start-postgres pg_isready /usr/local/bin/
RUN install --directory --owner=towpath /var/lib/postgresql
USER towpath
ENTRYPOINT ["start-postgres"]
CMD []

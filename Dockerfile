# Build and run with the same version of Node: the code cache of the build fits only this version. The digest is the digest
# of the multi-architecture index; change it together with the version.
FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The sources are not here yet, so nothing can be built.
RUN npm ci --ignore-scripts
COPY scripts scripts
COPY src src
COPY fixtures fixtures
COPY scenarios scenarios
# The console shows how they verify a webhook.
COPY clients clients
COPY docs/webhooks.md docs/webhooks.md
RUN npm run build

FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
WORKDIR /app
COPY package.json LICENSE README.md ./
# The pages that an agent can read.
COPY docs docs
COPY clients clients
COPY --from=build /app/dist dist
COPY --from=build /app/fixtures fixtures
COPY --from=build /app/scenarios scenarios
RUN mkdir /data && chown node:node /data
USER node
ENV NODE_ENV=production PAYOUT_SANDBOX_HOST=0.0.0.0 PAYOUT_SANDBOX_DATA=/data/db.json
VOLUME /data
EXPOSE 4310
STOPSIGNAL SIGTERM
# Each check starts a Node process, so it runs often only until the first success. --start-interval needs Docker 25.
HEALTHCHECK --interval=30s --timeout=4s --start-period=30s --start-interval=1s CMD ["node", "/app/dist/bin.cjs", "health"]
ENTRYPOINT ["node", "/app/dist/bin.cjs"]
CMD ["start"]

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { createCaller } from '../../cli/caller.ts'
import { type Program, serve } from '../../cli/program.ts'
import { freePort } from '../../listening.ts'
import { optionNames, read } from './files.ts'

const CONF = read('examples/scale-out/nginx.conf')
const MANIFEST = read('examples/scale-out/kubernetes.yaml')
const hasNginx = spawnSync('nginx', ['-v']).status === 0
const skip = hasNginx ? false : 'there is no nginx here'

/** nginx with the example's configuration, its ports exchanged for those here; answers once it listens. */
async function balance(t: Test, dir: string, ports: readonly number[]): Promise<number> {
  const front = await freePort()
  const places: Record<string, number | undefined> = {
    4310: front,
    4311: ports[0],
    4312: ports[1],
    4313: ports[2],
  }
  const conf = CONF.replaceAll(
    /127\.0\.0\.1:(431\d)/g,
    (_, port: string) => `127.0.0.1:${places[port]}`,
  )
  writeFileSync(join(dir, 'nginx.conf'), conf)
  const child = spawn('nginx', ['-p', dir, '-c', 'nginx.conf'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let received = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  for (;;) {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${received}`)
    const status = await ask(front, '/').then(
      ({ status }) => status,
      () => 0,
    )
    if (status !== 0) return front
    await new Promise(setImmediate)
  }
}

const agent = new Agent()
async function ask(port: number, path: string, headers = {}, body?: object) {
  const method = body ? 'POST' : 'GET'
  const { status, text } = await createCaller(port, agent)(method, path, body, headers)
  return { status, body: /^[{[]/.test(text) ? JSON.parse(text) : text }
}

const names = Array.from({ length: 60 }, (_, i) => `worker-${i}`)
const userOf = (name: string, n: number) => ({
  email: `${name}-${n}@example.com`,
  mobile: `+9198${String(names.indexOf(name)).padStart(4, '0')}${String(n).padStart(4, '0')}`,
})

async function clientsOf({ port }: Program): Promise<string[]> {
  const { body } = await ask(port, '/__admin/clients')
  return body.clients
    .map(({ name }: { name: string }) => name)
    .filter((name: string) => name.startsWith('worker-'))
}

t.test(
  '60 clients over three processes, one killed: each has its own world, and keeps it',
  { skip },
  async (t) => {
    const dir = t.testdir({ 'nginx-temp': {} })
    const optionsOf = (i: number) => ['--data', join(dir, `${i}.json`), '--clock', 'frozen']
    const programs = await Promise.all([0, 1, 2].map((i) => serve(t, optionsOf(i))))
    const front = await balance(
      t,
      dir,
      programs.map(({ port }) => port),
    )

    // By its base path, then by its token: the same world.
    for (const name of names) {
      const first = await ask(front, `/@${name}/v1/user`, {}, userOf(name, 1))
      const made = first.body.data.user_id
      const token = { authorization: `Bearer sbx_${name}` }
      t.equal(
        (await ask(front, '/v1/user', token, userOf(name, 2))).status,
        201,
        `${name} by token`,
      )
      t.equal((await ask(front, `/@${name}/v1/user/${made}`, token)).status, 200, `${name} by both`)
    }
    const before = await Promise.all(programs.map(clientsOf))
    t.strictSame(before.flat().sort(), [...names].sort(), 'each client is in one process')
    for (const found of before) t.ok(found.length >= 5, `${found.length} clients in one process`)
    // No client, and the default client's token: the default client of one process.
    const one = await ask(front, '/v1/user', {}, userOf('worker-0', 3))
    const token = { authorization: 'Bearer sbx_test_token' }
    t.equal((await ask(front, `/v1/user/${one.body.data.user_id}`, token)).status, 200)

    const killed = programs[1]!
    await killed.stop('SIGKILL')
    const statuses = await Promise.all(names.map((name) => ask(front, `/@${name}/v1/users`)))
    for (const [i, { status }] of statuses.entries())
      t.equal(status, before[1]!.includes(names[i]!) ? 502 : 200, `${names[i]} while one is down`)
    programs[1] = await serve(t, [...optionsOf(1), '--port', String(killed.port)], {
      keepPort: true,
    })
    for (const name of names) {
      const { body } = await ask(front, `/@${name}/v1/users`)
      t.strictSame(
        body.data.users.slice(0, 2).map(({ email }: { email: string }) => email),
        [userOf(name, 2).email, userOf(name, 1).email],
        `${name} has lost nothing`,
      )
    }
    t.strictSame(await Promise.all(programs.map(clientsOf)), before, 'and is where it was')
    await Promise.all(programs.map(({ stop }) => stop()))
  },
)

// biome-ignore lint/suspicious/noExplicitAny: a manifest is walked as the document it is.
const documents: any[] = parseAllDocuments(MANIFEST).map((document) => {
  if (document.errors.length > 0) throw document.errors[0]
  return document.toJS()
})
const kind = (wanted: string) => documents.find((document) => document.kind === wanted)
const conf: string = kind('ConfigMap').data['nginx.conf']

t.test('the Kubernetes manifest names what there is', async (t) => {
  const { spec, metadata } = kind('StatefulSet')
  const [container] = spec.template.spec.containers
  const dockerfile = read('Dockerfile')
  const port = Number(/^EXPOSE (\d+)$/m.exec(dockerfile)?.[1])
  t.equal(container.ports[0].containerPort, port)
  t.equal(container.volumeMounts[0].mountPath, /^VOLUME (\S+)$/m.exec(dockerfile)?.[1])
  t.equal(spec.volumeClaimTemplates[0].metadata.name, container.volumeMounts[0].name)
  for (const { name } of container.env) t.ok(optionNames.includes(name), name)
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
    t.match(container[probe].httpGet.path, /^\/__admin\/(ready|health)$/)
  const services = documents.filter((document) => document.kind === 'Service')
  t.equal(services.find(({ spec }) => spec.clusterIP === 'None').metadata.name, spec.serviceName)
  const pods = [...conf.matchAll(/^ +\S+ +(payout-sandbox-\d);$/gm)].map(([, pod]) => pod)
  t.strictSame(
    pods,
    Array.from({ length: spec.replicas }, (_, i) => `${metadata.name}-${i}`),
  )
  t.match(conf, `http://$pod.${spec.serviceName}.default.svc.cluster.local:${port};`)
  t.equal(
    kind('Deployment').spec.template.spec.volumes[0].configMap.name,
    kind('ConfigMap').metadata.name,
  )
  for (const { spec } of services) t.equal(spec.ports[0].port, port)
})

t.test('no Service of the manifest gives the pods an option', async (t) => {
  const linked = documents
    .filter((document) => document.kind === 'Service' && document.spec.clusterIP !== 'None')
    .map(({ metadata }) => `${metadata.name.toUpperCase().replaceAll('-', '_')}_PORT`)
  t.ok(
    linked.some((name) => optionNames.includes(name)),
    'Kubernetes would set one',
  )
  t.equal(kind('StatefulSet').spec.template.spec.enableServiceLinks, false)
})

t.test('both nginx configurations find the client alike', async (t) => {
  const maps = (text: string) =>
    [...text.matchAll(/map \S+ \S+ \{[^}]*\}/g)].map(([map]) => map.replaceAll(/ *#.*\n|\s+/g, ' '))
  t.equal(maps(CONF).length, 4)
  t.strictSame(maps(conf), maps(CONF))
})

t.test('the manifest’s nginx configuration is one', { skip }, async (t) => {
  const dir = t.testdir({ 'nginx.conf': conf.replace('/tmp/nginx.pid', 'nginx.pid') })
  const { status, stderr } = spawnSync('nginx', ['-t', '-p', dir, '-c', 'nginx.conf'], {
    encoding: 'utf8',
  })
  t.equal(status, 0, stderr)
})

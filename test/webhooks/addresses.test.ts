import t from 'tap'
import {
  type AddressKind,
  classifyAddress,
  createAddressPolicy,
  readTarget,
} from '../../src/webhooks/addresses.ts'

/** Hosts as a user or an attacker may spell them in a URL, and what they are. */
const SPELLINGS: Record<AddressKind, string> = {
  loopback: `
    127.0.0.1 127.255.255.254 127.1 127.0.1 2130706433 0x7f000001 0X7F.0.0.1 0177.0.0.1
    017700000001 0x7f.1 127.0.0.1. %31%32%37.0.0.1 １２７.０.０.１ ①②⑦.0.0.1 127。0。0。1 [::1]
    [0:0:0:0:0:0:0:1] [0000::0001] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1]
    [64:ff9b::127.0.0.1]`,
  unspecified: '0.0.0.0 0 0x0 [::] [::ffff:0.0.0.0]',
  private: `
    10.0.0.1 012.1 172.16.0.1 172.31.255.255 192.168.1.1 3232235777 0xc0a80101 100.64.0.1
    [fd12:3456::1] [fc00::1] [fec0::1] [::ffff:10.0.0.1] [2002:0a00:0001::]`,
  link_local: `
    169.254.0.1 169.254.1.1. 2851995649 [fe80::1] [febf::1] [::ffff:169.254.1.1]
    [64:ff9b::169.254.1.1]`,
  metadata: `
    169.254.169.254 169.254.169.254. 169.254.43518 169.16689662 2852039166 0xa9fea9fe
    0xA9.0xFE.0xA9.0xFE 0251.0376.0251.0376 025177524776 １６９.２５４.１６９.２５４ 169。254。169。254
    [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] [0:0:0:0:0:ffff:a9fe:a9fe]
    [::ffff:0:169.254.169.254] [::169.254.169.254] [64:ff9b::a9fe:a9fe] [64:ff9b:1::a9fe:a9fe]
    [2002:a9fe:a9fe::1] [2001:0:4136:e378:8000:63bf:5601:5601] [2001:db8::5efe:169.254.169.254]
    169.254.170.2 [fd00:ec2::254] [FD00:0EC2:0:0:0:0:0:0254] [fd20:ce::254] 100.100.100.200
    1684301000 192.0.0.192 168.63.129.16`,
  public: `
    8.8.8.8 134744072 172.32.0.1 11.0.0.1 100.128.0.1 192.169.0.1 169.253.255.255 169.255.0.0
    0.0.0.1 224.0.0.1 255.255.255.255 [2606:4700::1111] [ff02::1] [::ffff:8.8.8.8]
    [64:ff9b::8.8.8.8] [2002:808:808::1]`,
}

const VERDICTS: Record<AddressKind, RegExp | undefined> = {
  loopback: undefined,
  private: undefined,
  unspecified: undefined,
  link_local: /is a link-local address/,
  metadata: /is a cloud metadata address/,
  public: /is a public address; start with --webhook-allow/,
}

const hostOf = (text: string) => {
  const read = readTarget(text)
  if ('problem' in read) throw new Error(`${text} ${read.problem}`)
  return read.target.host
}

t.test('every spelling of an address is seen for what it is', async (t) => {
  const policy = createAddressPolicy({ allow: [] })
  for (const [kind, spellings] of Object.entries(SPELLINGS) as [AddressKind, string][])
    for (const spelling of spellings.trim().split(/\s+/)) {
      const host = hostOf(`http://${spelling}/hook`)
      t.equal(classifyAddress(host), kind, `${spelling} is ${kind}`)
      const verdict = VERDICTS[kind]
      const why = policy.hostProblem(host)
      if (verdict === undefined) t.equal(why, undefined, `${spelling} may be reached`)
      else t.match(why, verdict, `${spelling} is refused`)
    }
})

t.test('an address with a zone is classified without it', async (t) => {
  t.equal(classifyAddress('fe80::1%eth0'), 'link_local')
  t.equal(classifyAddress('::1%lo'), 'loopback')
})

t.test('names of metadata services are refused before they are looked up', async (t) => {
  const policy = createAddressPolicy({ allow: ['metadata.google.internal'] })
  for (const name of [
    'metadata.google.internal',
    'METADATA.google.internal.',
    'metadata',
    'instance-data.ec2.internal',
  ])
    t.match(policy.hostProblem(hostOf(`http://${name}/`)), /names a cloud metadata service/, name)
  for (const name of ['localhost', 'receiver', 'my-metadata.example', 'host.docker.internal'])
    t.equal(policy.hostProblem(hostOf(`http://${name}/`)), undefined, name)
})

t.test('the allow list names public hosts in any spelling, and opens nothing else', async (t) => {
  const policy = createAddressPolicy({
    allow: [
      'Hooks.Example.com.',
      '134744072',
      '2606:4700::1111',
      '[2606:4700::2222]',
      'bücher.example',
      '169.254.169.254',
    ],
  })
  const may = (host: string, address: string) => policy.addressProblem(host, address) === undefined
  t.ok(may('hooks.example.com', '93.184.216.34'))
  t.ok(may('8.8.8.8', '8.8.8.8'))
  t.ok(may('2606:4700::1111', '2606:4700::1111'))
  t.ok(may('2606:4700::2222', '2606:4700::2222'))
  t.ok(may('xn--bcher-kva.example', '93.184.216.34'))
  t.notOk(may('example.com', '93.184.216.34'), 'a parent domain is another host')
  t.notOk(may('x.hooks.example.com', '93.184.216.34'), 'so is a subdomain')
  t.notOk(may('hooks.example.com', '169.254.169.254'), 'a listed name may not lead to metadata')
  t.notOk(may('169.254.169.254', '169.254.169.254'), 'nor may a listed address')
})

t.test('an entry of the allow list that is no host is refused', async (t) => {
  for (const entry of ['', 'http://x', 'x:80', 'x/y', 'a b', 'u@x', '[::1]:80', '300.1.1.1'])
    t.throws(
      () => createAddressPolicy({ allow: [entry] }),
      /is not a host: specify a name or an IP/,
      entry,
    )
})

t.test('a name is judged by what it resolves to, in the look-up that connects', async (t) => {
  const zone: Record<string, string[]> = {
    'local.test': ['127.0.0.1', '::1'],
    'rebound.test': ['169.254.169.254'],
    'mapped.test': ['::ffff:169.254.169.254'],
    'mixed.test': ['169.254.169.254', '10.0.0.9', '8.8.8.8'],
    'public.test': ['93.184.216.34'],
    'listed.test': ['93.184.216.34'],
    'empty.test': [],
  }
  const lookup = ((host: string, _options: unknown, done: (...args: unknown[]) => void) => {
    const found = zone[host]
    if (found)
      done(
        null,
        found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    else done(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
  }) as never
  const policy = createAddressPolicy({ allow: ['listed.test'], lookup })
  const resolve = (host: string, all: boolean) =>
    new Promise<unknown>((done) =>
      policy.lookup(host, { all }, (error, found) => done(error ? error.message : found)),
    )

  t.same(await resolve('local.test', true), [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ])
  t.equal(await resolve('local.test', false), '127.0.0.1')
  t.same(
    await resolve('mixed.test', true),
    [{ address: '10.0.0.9', family: 4 }],
    'only usable ones are handed over',
  )
  t.same(await resolve('listed.test', true), [{ address: '93.184.216.34', family: 4 }])
  t.match(
    await resolve('rebound.test', true),
    /rebound\.test \(169\.254\.169\.254\) is a cloud metadata address/,
  )
  t.match(await resolve('mapped.test', false), /is a cloud metadata address/)
  t.match(
    await resolve('public.test', true),
    /is a public address; start with --webhook-allow public\.test/,
  )
  t.match(await resolve('empty.test', true), /resolves to no address/)
  t.equal(await resolve('nowhere.test', true), 'not found')
})

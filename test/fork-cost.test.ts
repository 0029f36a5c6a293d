import t from 'tap'
import { start } from './helper.ts'

const ROWS = 20_000

t.test('a fork, a snapshot and a restore copy no row, however many there are', async (t) => {
  const { sandbox } = await start(t)
  const world = sandbox.default
  world.change(() => {
    for (let i = 0; i < ROWS; i++)
      world.users.create({
        email: `many.${i}@example.com`,
        mobile: `+9180${String(i).padStart(8, '0')}`,
        user_type: 'individual',
      })
  })
  const layers = () => world.tables.now().images.users.layers
  const big = layers().at(-1)
  t.equal(big?.rows.size, ROWS)
  const took: number[] = []
  for (let i = 0; i < 40; i++) {
    const before = performance.now()
    const fork = sandbox.create({ name: `fork-${i}`, from: { client: 'default' } }).world
    world.snapshots.save(`s${i % 5}`)
    world.snapshots.restore(`s${i % 5}`)
    took.push(performance.now() - before)
    t.equal(fork.tables.now().images.users.layers.at(-1), big, 'the rows themselves are shared')
    fork.users.create({
      email: 'own@example.com',
      mobile: '+919876543210',
      user_type: 'individual',
    })
    t.equal(fork.tables.tables.users.count('all', 'all'), ROWS + 111)
  }
  t.equal(layers().at(-1), big)
  t.equal(world.tables.tables.users.count('all', 'all'), ROWS + 110)
  took.sort((a, b) => a - b)
  // Copying as many rows takes tens of ms; the bench measures what it does take.
  t.ok(took[20]! < 10, `${took[20]} ms`)
})

t.test('a client that is often forked and changed is read through few layers', async (t) => {
  const { sandbox, post } = await start(t)
  const world = sandbox.default
  for (let i = 0; i < 300; i++) {
    await post('/v1/user', {
      email: `u${i}@example.com`,
      mobile: `+9198${String(i).padStart(8, '0')}`,
    })
    world.snapshots.save(`s${i % 50}`)
  }
  t.ok(world.tables.now().images.users.layers.length <= 12)
  t.equal(world.tables.tables.users.count('all', 'all'), 410)
})

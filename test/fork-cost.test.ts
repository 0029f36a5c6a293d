import t from 'tap'
import { saveSnapshot } from '../src/content/snapshots.ts'
import { start } from './helper.ts'

const ROWS = 20_000

t.test(
  'a fork, a snapshot and a restore copy no row; the first change after one does',
  async (t) => {
    const { sandbox } = await start(t)
    const world = sandbox.default
    const user = (n: number) => ({
      email: `many.${n}@example.com`,
      mobile: `+9180${String(n).padStart(8, '0')}`,
      user_type: 'individual' as const,
    })
    world.tables.change(() => {
      for (let i = 0; i < ROWS; i++) world.payouts.users.create(user(i))
    })
    const took: number[] = []
    for (let i = 0; i < 20; i++) {
      const before = performance.now()
      const fork = sandbox.create({ name: `fork-${i}`, from: { client: 'default' } })
      saveSnapshot(world, `s${i % 5}`)
      sandbox.restore(world, `s${i % 5}`)
      took.push(performance.now() - before)
      const shared = world.tables.now().images.users
      t.equal(fork.tables.now().images.users, shared, 'the rows themselves are shared')
      fork.payouts.users.create(user(ROWS + i))
      t.not(fork.tables.now().images.users, shared)
      t.equal(fork.tables.tables.users.count('all', 'all'), ROWS + 111)
      t.equal(world.tables.tables.users.count('all', 'all'), ROWS + 110)
    }
    took.sort((a, b) => a - b)
    t.ok(took[10]! < 10, `${took[10]} ms`)
  },
)

import { createCipheriv, createHash, createHmac, scryptSync } from 'node:crypto'
import * as z from 'zod'
import { BadOption } from '../../config/options.ts'
import { groupBy } from '../counting.ts'
import type { Fault, Plan, SweepResult } from './faults-and-findings.ts'
import { assumptionOf, FAULT_KINDS, SweepError } from './faults-and-findings.ts'
import { coverageOfRuns, findingOfRun, isFinding, readReport } from './findings.ts'
import { lines, narrowTable, type Row, sentence } from './report/sweep-text.ts'

const IV_BYTES = 16

// A slow key: a short seed must not be guessed from what is sealed.
const keyOf = (seed: string) => scryptSync(seed, 'payout-sandbox holdout', 32)
const macOf = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
/** Encrypts bytes, or decrypts them. */
const ciphered = (key: Buffer, iv: Buffer, bytes: Buffer) =>
  createCipheriv('aes-256-ctr', key, iv).update(bytes)

function encrypted(key: Buffer, text: string): string {
  // Each text has an iv of its own, and the same text the same one.
  const iv = macOf(key, text).subarray(0, IV_BYTES)
  return Buffer.concat([iv, ciphered(key, iv, Buffer.from(text))]).toString('base64')
}

/** `undefined` if another key sealed it, or if it was changed. */
function decrypted(key: Buffer, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  const iv = bytes.subarray(0, IV_BYTES)
  if (iv.length < IV_BYTES) return undefined
  const text = ciphered(key, iv, bytes.subarray(IV_BYTES)).toString()
  return macOf(key, text).subarray(0, IV_BYTES).equals(iv) ? text : undefined
}

const Sealed = z.strictObject({
  faults: z.array(z.object({ name: z.string(), what: z.string() })),
  findings: z.array(z.object({ verdict: z.string(), what: z.string(), happened: z.string() })),
})

const nameOf = (fault: Fault) => assumptionOf(fault) ?? fault.name

/** A third of the faults of each kind, chosen by a seed. A report has their score alone: what passed is not named, or its rest would name them. */
export class Holdout {
  readonly #key: Buffer
  /** The words of each fault that is held out. */
  readonly #words: ReadonlyMap<string, string>

  constructor(seed: string, faults: readonly Fault[]) {
    this.#key = keyOf(seed)
    const rank = (name: string) => macOf(this.#key, name).toString('hex')
    const chosen = [...groupBy(faults, ({ kind }) => kind).values()].flatMap((own) => {
      const names = [...new Set(own.map(nameOf))].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
      return names.slice(0, Math.round(names.length / 3))
    })
    const wordsOf = (name: string) => faults.find((one) => nameOf(one) === name)!.what
    this.#words = new Map(chosen.sort().map((name) => [name, wordsOf(name)]))
    if (chosen.length === 0)
      throw new SweepError(
        '--holdout takes a third of the faults of each kind, and there are too few; leave out --only or --except',
      )
  }

  has = (plan: Plan): boolean => plan.some((fault) => this.#words.has(nameOf(fault)))

  /** The result as its report may show it. */
  seal(result: SweepResult): SweepResult {
    const { runs, findings, flaky, baseline, untried, pruned } = result
    const reached = runs.filter(({ verdict }) => verdict !== 'not_reached')
    const found = findingOfRun(result)
    const classes = ([...FAULT_KINDS, 'all'] as const).flatMap((kind) => {
      const own = reached.filter(({ plan }) => kind === 'all' || plan[0]?.kind === kind)
      const scoreOf = (isHeldOut: boolean) => {
        const some = own.filter(({ plan }) => this.has(plan) === isHeldOut)
        const passed = some.filter(({ id }) => !found.has(id)).length
        const errors = some.filter(({ id }) => found.get(id)?.level === 'error').length
        return { runs: some.length, passed, errors }
      }
      return own.length === 0 ? [] : { kind, shown: scoreOf(false), held_out: scoreOf(true) }
    })
    const secret = findings.filter(({ plan }) => this.has(plan))
    const sealed = encrypted(
      this.#key,
      JSON.stringify({
        faults: [...this.#words].map(([name, what]) => ({ name, what })),
        findings: secret.map(({ verdict, what, happened }) => ({ verdict, what, happened })),
      } satisfies z.infer<typeof Sealed>),
    )
    const named = runs.filter((run) => isFinding(run) && !this.has(run.plan))
    return {
      ...result,
      runs: named,
      findings: findings.filter(({ plan }) => !this.has(plan)),
      flaky: flaky.filter(({ plan }) => !this.has(plan)),
      untried: [],
      pruned: [],
      coverage: coverageOfRuns([baseline], named),
      holdout: {
        classes,
        verdicts: [...new Set(secret.map(({ verdict }) => verdict))].sort(),
        not_reached: runs.length - reached.length,
        untried: untried.length + pruned.length,
        sha256: createHash('sha256').update(sealed).digest('hex'),
        sealed,
      },
    }
  }
}

const Report = z.object({ holdout: z.object({ sealed: z.string() }) })

/** What a report has sealed. Throws `BadOption`. */
export function revealed(file: string, seed: string): z.infer<typeof Sealed> {
  const { sealed } = readReport(Report, 'reveal', file, 'nothing sealed').holdout
  const text = decrypted(keyOf(seed), sealed)
  if (text !== undefined) return Sealed.parse(JSON.parse(text))
  throw new BadOption(`--holdout is not the seed of ${file}; use the one it was made with`)
}

export const revealedText = ({ faults, findings }: z.infer<typeof Sealed>): string => {
  const rows = findings.map(({ verdict, what, happened }): Row => {
    return [[verdict], [sentence(happened), sentence(what)]]
  })
  const found = narrowTable(['verdict', 'what happened, and what was done'], rows, 'No findings.')
  return `Held out:\n${lines(faults.map(({ what }) => what))}\n${found}`
}

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  scryptSync,
} from 'node:crypto'
import * as z from 'zod'
import { readJson, UnreadableText } from '../../config/files.ts'
import { BadOption } from '../../config/options.ts'
import { groupBy } from '../counting.ts'
import { coverageOf } from '../coverage/report.ts'
import { table } from '../report/table.ts'
import {
  assumptionOf,
  FAULT_KINDS,
  type Fault,
  type Plan,
  SweepError,
  type SweepResult,
} from './faults-and-findings.ts'
import { isFinding } from './findings.ts'
import { planNames } from './plans.ts'

const CIPHER = 'aes-256-gcm'
const [IV_BYTES, TAG_BYTES] = [12, 16]

// A slow key: a short seed must not be guessed from what is sealed.
const keyOf = (seed: string): KeyObject =>
  createSecretKey(scryptSync(seed, 'payout-sandbox holdout', 32))
const macOf = (key: KeyObject, text: string) => createHmac('sha256', key).update(text).digest()

function encrypted(key: KeyObject, text: string): string {
  // Each text has an iv of its own, and the same text the same one.
  const iv = macOf(key, text).subarray(0, IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64')
}

function decrypted(key: KeyObject, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64')
  const at = IV_BYTES + TAG_BYTES
  const options = { authTagLength: TAG_BYTES }
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), options)
  decipher.setAuthTag(bytes.subarray(IV_BYTES, at))
  return Buffer.concat([decipher.update(bytes.subarray(at)), decipher.final()]).toString('utf8')
}

const Sealed = z.strictObject({
  faults: z.array(z.string()),
  findings: z.array(
    z.object({ faults: z.string(), verdict: z.string(), what: z.string(), happened: z.string() }),
  ),
})

const nameOf = (fault: Fault) => assumptionOf(fault) ?? fault.name

/** A third of the faults of each kind, chosen by a seed. A report has their score alone: what passed is not named, or its rest would name them. */
export class Holdout {
  readonly #key: KeyObject
  readonly #names: ReadonlySet<string>

  constructor(seed: string, faults: readonly Fault[]) {
    this.#key = keyOf(seed)
    const rank = (name: string) => macOf(this.#key, name).toString('hex')
    const chosen = [...groupBy(faults, ({ kind }) => kind).values()].flatMap((own) => {
      const names = [...new Set(own.map(nameOf))].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
      return names.slice(0, Math.round(names.length / 3))
    })
    this.#names = new Set(chosen)
    if (chosen.length === 0)
      throw new SweepError(
        '--holdout takes a third of the faults of each kind, and there are too few; leave out --only or --except',
      )
  }

  has = (plan: Plan): boolean => plan.some((fault) => this.#names.has(nameOf(fault)))

  /** The result as its report may show it. */
  seal(result: SweepResult): SweepResult {
    const { runs, findings, flaky, baseline, untried, pruned } = result
    const reached = runs.filter(({ verdict }) => verdict !== 'not_reached')
    const found = new Map(
      findings.flatMap((one) => [one, ...one.same].map(({ id }) => [id, one] as const)),
    )
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
        faults: [...this.#names].sort(),
        findings: secret.map(({ plan, same, verdict, what, happened }) => {
          const faults = planNames([plan, ...same.map((one) => one.plan)])
          return { faults: faults.join(', '), verdict, what, happened }
        }),
      } satisfies z.infer<typeof Sealed>),
    )
    const named = runs.filter((run) => isFinding(run) && !this.has(run.plan))
    const seen = [baseline, ...named.map(({ observation }) => observation)]
    const tried = named.flatMap(({ plan }) => plan.map(({ name }) => name))
    return {
      ...result,
      runs: named,
      findings: findings.filter(({ plan }) => !this.has(plan)),
      flaky: flaky.filter(({ plan }) => !this.has(plan)),
      untried: [],
      pruned: [],
      coverage: coverageOf(new Set(seen.flatMap((one) => [...one.seen])), new Set(tried)),
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
  let sealed: string
  try {
    sealed = Report.parse(readJson(file)).holdout.sealed
  } catch (error) {
    const problem = error instanceof UnreadableText ? error.message : 'has nothing sealed'
    throw new BadOption(`--reveal ${file} ${problem}; use the sweep.json of a sweep --holdout`)
  }
  try {
    return Sealed.parse(JSON.parse(decrypted(keyOf(seed), sealed)))
  } catch {
    throw new BadOption(`--holdout is not the seed of ${file}; use the one it was made with`)
  }
}

export const revealedText = ({ faults, findings }: z.infer<typeof Sealed>): string => {
  const head = ['faults', 'verdict', 'what was done', 'what happened']
  const rows = findings.map((one) => [one.faults, one.verdict, one.what, one.happened])
  return `Held out: ${faults.join(', ')}\n\n${table(head, rows, 'No findings.')}`
}

import { useId, useState } from 'preact/hooks'
import type { ResponseBody } from '../../../admin/contract.ts'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { SearchField, useSearch } from '../fields.tsx'
import { useUrlField } from '../route.ts'
import { Card, Problem, Prose } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

type Assumption = ResponseBody<'listAssumptions'>['assumptions'][number]
type Reading = Assumption['readings'][number]

/** The sections of the contract, by their first number. */
const SECTIONS: Readonly<Record<string, string>> = {
  2: 'Resources and their fields',
  3: 'States',
  4: 'Endpoints',
  5: 'Authentication',
  6: 'Webhooks',
  7: 'Errors',
  8: 'Limits',
}
const groupOf = ({ section }: Assumption) => section.split('.')[0]!

/** Who has chosen the reading in force, as a mark; nothing for the default. */
const MARKS: Readonly<Record<Assumption['source'], string | undefined>> = {
  default: undefined,
  start: 'chosen at the start',
  scenario: 'by the scenario',
  call: 'changed',
  imposed: 'imposed',
}

/** Whether the reading in force is neither the default nor that of the start. */
const isChanged = ({ reading, source, default: usual }: Assumption) =>
  reading !== usual || source === 'scenario' || source === 'call'

const textOf = ({ name, question, section, basis, why, reading, readings }: Assumption) =>
  [
    name,
    question,
    section,
    basis,
    why,
    reading,
    ...readings.flatMap((one) => [one.reading, one.does]),
  ].join(' ')

/** A choice of the list, and the reading: the same text, or what the user writes for a form such as `N/minute`. */
type Picked = { choice: string; reading: string }

/** One possible reading; for a form, with a text field. */
function ReadingChoice({
  group,
  one: { reading, does, example },
  isDefault,
  picked,
  onPick,
}: {
  group: string
  one: Reading
  isDefault: boolean
  picked: Picked
  onPick: (picked: Picked) => void
}) {
  const id = useId()
  const isForm = example !== undefined
  const isPicked = picked.choice === reading
  const pick = (text: string) => onPick({ choice: reading, reading: text })
  return (
    <li>
      <input
        type="radio"
        id={id}
        name={group}
        checked={isPicked}
        onChange={() => pick(isForm ? '' : reading)}
      />
      <div>
        <label for={id}>
          <code>{reading}</code>
        </label>
        {isDefault && <span class="hint"> default</span>}
        {isForm && (
          <input
            class="short"
            type="text"
            aria-label={reading}
            autocomplete="off"
            spellcheck={false}
            placeholder={example}
            value={isPicked ? picked.reading : ''}
            onInput={({ currentTarget }) => pick(currentTarget.value)}
          />
        )}
        <p class="hint">
          <Prose text={does} />
        </p>
      </div>
    </li>
  )
}

/** The form that chooses a reading of one assumption. */
function Readings({
  assumption: { name, question, reading, source, default: usual, readings },
  onDone,
}: {
  assumption: Assumption
  onDone: () => void
}) {
  const group = useId()
  const [picked, setPicked] = useState<Picked>()
  const inForce = {
    choice: (readings.find((one) => one.reading === reading) ?? readings.at(-1)!).reading,
    reading,
  }
  // Until the user picks one, the fields follow the reading in force.
  const shown = picked ?? inForce
  const setOf = (next: string | null) => callOf('setAssumptions', { body: { [name]: next } })
  function done() {
    setPicked(undefined)
    onDone()
  }
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <fieldset class="readings">
        <legend class="visually-hidden">
          <Prose text={question} />
        </legend>
        <ul>
          {readings.map((one) => (
            <ReadingChoice
              key={one.reading}
              group={group}
              one={one}
              isDefault={one.reading === usual}
              picked={shown}
              onPick={setPicked}
            />
          ))}
        </ul>
      </fieldset>
      <div class="row">
        <Act
          submit
          label="Choose"
          name={name}
          disabled={shown.reading === reading || shown.reading === ''}
          call={setOf(shown.reading)}
          onDone={done}
        />
        {source === 'call' && <Act label="Undo" name={name} call={setOf(null)} onDone={done} />}
      </div>
    </form>
  )
}

function AssumptionItem({ assumption, onDone }: { assumption: Assumption; onDone: () => void }) {
  const { name, section, basis, why, reading, source, question } = assumption
  return (
    <li>
      <details class="assumption">
        <summary>
          <div>
            <h3>
              <code>{name}</code>
            </h3>
            <span class="in-force">
              {MARKS[source] && <span class="chip open">{MARKS[source]}</span>} <b>{reading}</b>
            </span>
            <p>
              <Prose text={question} />
            </p>
          </div>
        </summary>
        <Readings assumption={assumption} onDone={onDone} />
        <p class="hint">
          Section {section} of the contract; the default is <b>{basis}</b>. <Prose text={why} />
        </p>
      </details>
    </li>
  )
}

/** The points that the contract leaves open: what is in force, and the choice of another reading. */
export function Assumptions() {
  const { data, problem, reload } = useLoaded(callOf('listAssumptions'), [
    'assumptions',
    'scenario',
  ])
  const search = useSearch()
  const [changed, setChanged] = useUrlField('changed')
  const onlyChanged = changed !== ''
  const found = data?.assumptions.filter(
    (one) => (!onlyChanged || isChanged(one)) && search.finds(textOf(one)),
  )
  const groups = [...new Set(found?.map(groupOf))].sort((a, b) => Number(a) - Number(b))
  const done = () => void reload()
  return (
    <>
      <h2>Assumptions</h2>
      <p class="hint">
        The points that the contract leaves open, and how this client reads them. A default follows
        the contract, what the contract shows (observed), or a convention; or it is a guess.
      </p>
      <div class="row">
        <SearchField search={search} placeholder="webhook, 409, guess" />
        <label class="check">
          <input
            type="checkbox"
            checked={onlyChanged}
            onChange={({ currentTarget }) => setChanged(currentTarget.checked ? 'yes' : '')}
          />
          only changed
        </label>
        <Act
          label="Undo all changes"
          confirm="Removes all changes that calls have made to readings. The readings of the start and of the active scenario are in force again."
          call={callOf('reset', { body: { parts: ['assumptions'] } })}
          onDone={done}
        />
      </div>
      <Problem text={problem} />
      {found && (
        <>
          <p class="hint" aria-live="polite">
            {found.length} of {data!.assumptions.length} assumptions
          </p>
          {found.length === 0 && <p class="empty">No assumption matches.</p>}
          {groups.map((group) => (
            <Card key={group} title={SECTIONS[group] ?? `Section ${group}`} wide>
              <ul class="list">
                {found
                  .filter((one) => groupOf(one) === group)
                  .map((one) => (
                    <AssumptionItem key={one.name} assumption={one} onDone={done} />
                  ))}
              </ul>
            </Card>
          ))}
        </>
      )}
    </>
  )
}

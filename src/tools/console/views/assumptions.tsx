// tools/console/views/: what the console shows: one file for each view and its forms. What several views share is in the
// folder above. A view reads the admin API and the live events.

import { useState } from 'preact/hooks'
import type { ResponseBody } from '../../../admin/caller.ts'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { Check, Form, Input, SearchField, useSearch } from '../fields.tsx'
import { setUrlFields, useUrlFields } from '../route.ts'
import { Card, noneText, Problem, Prose } from '../ui.tsx'
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

const isChanged = ({ reading, source, default: usual }: Assumption) =>
  reading !== usual || source === 'scenario' || source === 'call'

function OneReading({ one, assumption }: { one: Reading; assumption: Assumption }) {
  const { reading, does, example } = one
  const { name, reading: inForce, default: usual, readings } = assumption
  const isForm = example !== undefined
  const isNamed = readings.some((other) => other.reading === inForce)
  const isInForce = reading === inForce || (isForm && !isNamed)
  const [text, setText] = useState(isInForce ? inForce : '')
  const next = isForm ? text : reading
  return (
    <li>
      <div>
        <code>{reading}</code> {isInForce && <span class="chip good">in force</span>}
        {reading === usual && <span class="hint"> default</span>}
        <p class="hint">
          <Prose text={does} />
        </p>
      </div>
      <Form>
        {isForm && (
          <Input short label={reading} value={text} placeholder={example} onInput={setText} />
        )}
        <Act
          submit
          label="Choose"
          name={`${name}=${reading}`}
          disabled={next === inForce || next === ''}
          call={setOf(name, next)}
          effect={`${name} is read as ${next}.`}
        />
      </Form>
    </li>
  )
}

const setOf = (name: string, reading: string | null) =>
  callOf('setAssumptions', { body: { [name]: reading } })

function AssumptionItem({ assumption }: { assumption: Assumption }) {
  const { name, section, basis, why, reading, source, question } = assumption
  return (
    <li>
      <details class="assumption">
        <summary>
          <div class="bar apart">
            <h3>
              <code>{name}</code>
            </h3>
            <span class="in-force">
              {MARKS[source] && <span class="chip open">{MARKS[source]}</span>} <b>{reading}</b>
            </span>
            <p class="hint">
              <Prose text={question} />
            </p>
          </div>
        </summary>
        <ul class="list">
          {assumption.readings.map((one) => (
            <OneReading key={one.reading} one={one} assumption={assumption} />
          ))}
        </ul>
        {source === 'call' && <Act label="Undo" name={name} call={setOf(name, null)} />}
        <p class="hint">
          Section {section} of the contract; the default is <b>{basis}</b>. <Prose text={why} />
        </p>
      </details>
    </li>
  )
}

export function Assumptions() {
  const { data, problem } = useLoaded(callOf('listAssumptions'))
  const search = useSearch()
  const onlyChanged = useUrlFields().has('changed')
  const found = data?.assumptions.filter(
    (one) => (!onlyChanged || isChanged(one)) && search.finds(JSON.stringify(one)),
  )
  const groups = [...new Set(found?.map(groupOf))].sort((a, b) => Number(a) - Number(b))
  return (
    <>
      <h2>Assumptions</h2>
      <p class="hint">
        The points that the contract leaves open, and how this client reads them. A default follows
        the contract, what the contract shows (observed), or a convention; or it is a guess.
      </p>
      <div class="row">
        <SearchField search={search} placeholder="webhook, 409, guess" />
        <Check
          label="only changed"
          checked={onlyChanged}
          onChange={(isOnly) => setUrlFields({ changed: isOnly ? 'yes' : '' })}
        />
        <Act
          label="Undo all changes"
          confirm="Removes all changes that calls have made to readings. The readings of the start and of the active scenario are in force again."
          call={callOf('reset', { body: { parts: ['assumptions'] } })}
        />
      </div>
      <Problem text={problem} />
      {found && (
        <>
          <p class="hint" aria-live="polite">
            {found.length} of {data!.assumptions.length} assumptions
          </p>
          {found.length === 0 && <p class="empty">{noneText('assumption', search.text)}</p>}
          {groups.map((group) => (
            <Card key={group} title={SECTIONS[group] ?? `Section ${group}`} wide>
              <ul class="list">
                {found
                  .filter((one) => groupOf(one) === group)
                  .map((one) => (
                    <AssumptionItem key={one.name} assumption={one} />
                  ))}
              </ul>
            </Card>
          ))}
        </>
      )}
    </>
  )
}

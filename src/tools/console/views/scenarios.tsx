import { useId, useState } from 'preact/hooks'
import type { ResponseBody } from '../../../admin/caller.ts'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { Fold, Form, SearchField, useSearch } from '../fields.tsx'
import { Detail } from '../rows.tsx'
import { Card, Heads, Problem, Scroll } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

type Listed = ResponseBody<'listScenarios'>

export function RejectedFiles() {
  const { data } = useLoaded(callOf('listScenarios'))
  const count = data?.problems.length ?? 0
  if (count === 0) return null
  return (
    <p class="problem" role="status">
      The changed scenario files were rejected. The previous files stay active.{' '}
      <a href="#/scenarios">
        {count} {count === 1 ? 'problem' : 'problems'}
      </a>
    </p>
  )
}

type Active = ResponseBody<'getScenario'> | undefined

type ActivateProps = { name: string; active: Active; definition?: object | undefined }

/** Activates or restarts a scenario; asks before it replaces one that is in no file. */
const Activate = ({ name, active, definition }: ActivateProps) => {
  const isActive = active?.name === name
  return (
    <Act
      label={isActive ? 'Restart' : 'Activate'}
      name={name}
      {...(active?.definition &&
        !isActive && {
          confirm:
            'The active scenario is in no file, and is lost. Its page has its text, to copy.',
        })}
      call={callOf('setScenario', { body: definition ? { definition } : { name } })}
      effect={`The scenario ${name} is active.`}
    />
  )
}

type ItemProps = ActivateProps & Pick<Listed['scenarios'][number], 'title' | 'description'>

function ScenarioItem({ name, title, description, active, definition }: ItemProps) {
  const isActive = active?.name === name
  return (
    <li class={isActive ? 'active' : ''}>
      <div>
        <h3>
          <a href={`#/scenarios/${encodeURIComponent(name)}`}>{name}</a>{' '}
          {isActive && <span class="chip good">active</span>}
        </h3>
        <p>{title}</p>
        <p class="hint">{description}</p>
      </div>
      <Activate name={name} active={active} definition={definition} />
    </li>
  )
}

export function Scenarios() {
  const { data, problem } = useLoaded(callOf('listScenarios'))
  const { data: active } = useLoaded(callOf('getScenario'))
  const search = useSearch()
  return (
    <>
      <h2>Scenarios</h2>
      <p class="hint">
        A scenario says how the service behaves. When you activate or restart one, its hits start at
        0 and its timeline starts.
      </p>
      <div class="row">
        <SearchField search={search} placeholder="late, webhook" />
      </div>
      <Problem text={problem} />
      {data && data.problems.length > 0 && (
        <Card title="The changed files were rejected" wide>
          <p>The previous files stay active.</p>
          <ul>
            {data.problems.map((one) => (
              <li key={one}>
                <code>{one}</code>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {active && active.expect.length > 0 && (
        <Card title="Expectations" wide>
          <ul>
            {active.expect.map(({ operation, found, met }) => (
              <li key={operation}>
                {operation}: {found} calls, {met ? 'as expected' : 'not as expected'}
              </li>
            ))}
          </ul>
        </Card>
      )}
      <ul class="list">
        {data && active?.definition && (
          <ScenarioItem
            name={active.name}
            title={active.title}
            description="Defined by an API call, not by a file."
            active={active}
            definition={active.definition}
          />
        )}
        {data?.scenarios
          .filter(({ name, title, description }) => search.finds(`${name} ${title} ${description}`))
          .map(({ name, title, description }) => (
            <ScenarioItem key={name} {...{ name, title, description, active }} />
          ))}
      </ul>
    </>
  )
}

// Until the page is closed: another view must not lose an edited copy.
const copies = new Map<string, string>()

function EditCopy({ name, source }: { name: string; source: string }) {
  const id = useId()
  const [definition, setDefinition] = useState(copies.get(name) ?? source)
  return (
    <Form isTall>
      <label for={id}>Scenario</label>
      <textarea
        id={id}
        rows={20}
        spellcheck={false}
        value={definition}
        onInput={({ currentTarget }) => {
          copies.set(name, currentTarget.value)
          setDefinition(currentTarget.value)
        }}
      />
      <Act
        submit
        label="Activate this copy"
        call={callOf('setScenario', { body: { definition } })}
        effect="Your copy is active, until you activate another scenario."
      />
    </Form>
  )
}

type Source = ResponseBody<'readScenario'>

function SourceTable({ source, rules, webhooks }: Pick<Source, 'source' | 'rules' | 'webhooks'>) {
  const byLine = new Map([...rules, ...webhooks].map((rule) => [rule.line, rule]))
  return (
    <Scroll label="Source">
      <table class="source">
        <Heads titles={['Line', 'Hits', 'Source']} />
        <tbody>
          {source.split('\n').map((text, i) => {
            const rule = byLine.get(i + 1)
            return (
              <tr key={i} class={rule && rule.hits > 0 ? 'good hit' : ''}>
                <td>{i + 1}</td>
                <td>{rule && <span title={rule.name}>{rule.hits} ×</span>}</td>
                <td>
                  <code>{text}</code>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scroll>
  )
}

export function OneScenario({ id: name }: { id: string }) {
  const { data: active } = useLoaded(callOf('getScenario'))
  return (
    <Detail list="Scenarios" call={callOf('readScenario', { params: { name } })}>
      {({ file, changed, ...read }) => (
        <>
          <h2>
            {name} {active?.name === name && <span class="chip good">active</span>}
          </h2>
          <p class="hint">{file ?? 'defined by an API call'}</p>
          {file !== null && <Activate name={name} active={active} />}
          <Fold title="Copy and edit it">
            <EditCopy name={name} source={read.source} />
          </Fold>
          {changed && (
            <p class="problem" role="status">
              The file has changed or was deleted. The sandbox still uses the version below.
            </p>
          )}
          <SourceTable {...read} />
        </>
      )}
    </Detail>
  )
}

import { Act } from '../act.tsx'
import { useLoaded } from '../data.ts'
import { Card, Problem, Scroll } from '../ui.tsx'

export type Listed = {
  scenarios: {
    name: string
    title: string | null
    description: string | null
    file: string | null
    active: boolean
  }[]
  problems: string[]
}

/** The response of `/scenario`; it has a `definition` if the scenario was activated by definition and not by name. */
type Active = {
  name: string
  title: string | null
  definition?: object
  expect: { operation: string; found: number; met: boolean }[]
}

/** A notice in every view that changed scenario files were rejected. */
export function Refused() {
  const { data } = useLoaded<Listed>('/scenarios', ['scenario'])
  const count = data?.problems.length ?? 0
  if (count === 0) return null
  return (
    <p class="problem" role="status">
      Changed scenario files were rejected; the last valid set is still active.{' '}
      <a href="#/scenarios">
        {count} {count === 1 ? 'problem' : 'problems'}
      </a>
    </p>
  )
}

function One({
  scenario: { name, title, description, definition },
  isActive,
  reload,
}: {
  scenario: Listed['scenarios'][number] & { definition?: object }
  isActive: boolean
  reload: () => void
}) {
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
      <Act
        quiet
        label={isActive ? 'Start anew' : 'Use'}
        name={name}
        call={{ method: 'PUT', path: '/scenario', body: definition ? { definition } : { name } }}
        onDone={reload}
      />
    </li>
  )
}

export function Scenarios() {
  const { data, problem, reload } = useLoaded<Listed>('/scenarios', ['scenario'])
  const { data: active } = useLoaded<Active>('/scenario', ['scenario', 'request'])
  const done = () => void reload()
  return (
    <>
      <h2>Scenarios</h2>
      <p class="hint">
        A scenario decides how calls end. When you use one, or start it anew, its counts begin at 0
        and its timeline begins.
      </p>
      <Problem text={problem} />
      {data && data.problems.length > 0 && (
        <Card title="The changed files were rejected" wide>
          <p>The last good set is still in use.</p>
          <ul class="problems">
            {data.problems.map((one) => (
              <li key={one}>
                <code>{one}</code>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {active && active.expect.length > 0 && (
        <Card title="What the active one expects" wide>
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
          <One
            isActive
            reload={done}
            scenario={{
              ...active,
              description: 'Given by its definition, and not by a file.',
              file: null,
              active: true,
            }}
          />
        )}
        {data?.scenarios.map((scenario) => (
          <One key={scenario.name} isActive={scenario.active} reload={done} scenario={scenario} />
        ))}
      </ul>
    </>
  )
}

type InText = { name: string; hits: number; line: number | null }
type Source = {
  name: string
  file: string | null
  changed: boolean
  source: string
  rules: InText[]
  webhooks: InText[]
}

export function OneScenario({ name }: { name: string }) {
  const { data, problem } = useLoaded<Source>(`/scenarios/${encodeURIComponent(name)}`, [
    'scenario',
    'request',
    'delivery',
  ])
  const byLine = new Map(
    [...(data?.rules ?? []), ...(data?.webhooks ?? [])].map((rule) => [rule.line, rule]),
  )
  return (
    <>
      <p class="crumbs">
        <a href="#/scenarios">Scenarios</a>
      </p>
      <h2>{name}</h2>
      <Problem text={problem} />
      {data && (
        <>
          <p class="hint">{data.file ?? 'given by its definition'}</p>
          {data.changed && (
            <p class="problem" role="status">
              That file says something else by now, or is gone. What is in use is shown here.
            </p>
          )}
          <Scroll label="Source">
            <table class="source">
              <thead>
                <tr>
                  <th scope="col">Line</th>
                  <th scope="col">Acted</th>
                  <th scope="col">Source</th>
                </tr>
              </thead>
              <tbody>
                {data.source.split('\n').map((text, i) => {
                  const rule = byLine.get(i + 1)
                  return (
                    <tr key={i} class={rule && rule.hits > 0 ? 'hit' : ''}>
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
        </>
      )}
    </>
  )
}

import { Act } from '../act.tsx'
import { useLoaded } from '../data.ts'
import { Card, Problem, Scroll } from '../ui.tsx'

type Listed = {
  scenarios: {
    name: string
    title: string | null
    description: string | null
    file: string | null
    active: boolean
  }[]
  problems: string[]
}

export function Scenarios() {
  const { data, problem, reload } = useLoaded<Listed>('/scenarios', ['scenario'])
  const { data: active } = useLoaded<{
    expect: { operation: string; found: number; met: boolean }[]
  }>('/scenario', ['scenario', 'request'])
  return (
    <>
      <h2>Scenarios</h2>
      <Problem text={problem} />
      {data && data.problems.length > 0 && (
        <Card title="The changed files were refused" wide>
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
        {data?.scenarios.map(({ name, title, description, active: isActive }) => (
          <li key={name} class={isActive ? 'active' : ''}>
            <div>
              <h3>
                <a href={`#/scenarios/${encodeURIComponent(name)}`}>{name}</a>{' '}
                {isActive && <span class="chip good">active</span>}
              </h3>
              <p>{title}</p>
              <p class="hint">{description}</p>
            </div>
            <Act
              label="Use"
              name={name}
              disabled={isActive}
              call={{ method: 'PUT', path: '/scenario', body: { name } }}
              onDone={() => void reload()}
            />
          </li>
        ))}
      </ul>
    </>
  )
}

type Source = {
  name: string
  file: string | null
  source: string
  rules: { name: string; hits: number; line: number | null }[]
}

export function OneScenario({ name }: { name: string }) {
  const { data, problem } = useLoaded<Source>(`/scenarios/${encodeURIComponent(name)}`, [
    'scenario',
    'request',
    'delivery',
  ])
  const byLine = new Map(data?.rules.map((rule) => [rule.line, rule]))
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

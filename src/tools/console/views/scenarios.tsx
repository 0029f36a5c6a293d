import { useEffect, useRef, useState } from 'preact/hooks'
import type { ResponseBody } from '../../../admin/caller.ts'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { Detail } from '../detail.tsx'
import { Fold, Form, SearchField, useSearch } from '../fields.tsx'
import { GONE_TEXT } from '../service.ts'
import { Card, List, Problem, Table } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

export function RejectedFiles() {
  const problems = useLoaded(callOf('listScenarios')).data?.problems ?? []
  return problems.length === 0 ? null : (
    <div class="problem" role="status">
      The changed scenario files were rejected. The previous files stay active.
      <List items={problems.map((one) => <code>{one}</code>)} />
    </div>
  )
}

type Active = ResponseBody<'getScenario'> | undefined

const LOST_TEXT = 'The active scenario is in no file, and is lost. Its page has its text, to copy.'

type ActivateProps = { name: string; active: Active; definition?: object | undefined }

/** Activates or restarts a scenario; asks before it replaces one that is in no file. */
const Activate = ({ name, active, definition }: ActivateProps) => {
  const isActive = active?.name === name
  return (
    <Act
      label={isActive ? 'Restart' : 'Activate'}
      name={name}
      confirm={active?.definition && !isActive ? LOST_TEXT : undefined}
      call={callOf('setScenario', { body: definition ? { definition } : { name } })}
      effect={`The scenario ${name} is active.`}
    />
  )
}

type ItemProps = ActivateProps & { title: string | null; description: string | null }

function ScenarioItem({ title, description, ...of }: ItemProps) {
  const { name, active } = of
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
      <Activate {...of} />
    </li>
  )
}

export function Scenarios() {
  const { data, problem } = useLoaded(callOf('listScenarios'))
  const { data: active } = useLoaded(callOf('getScenario'))
  const search = useSearch()
  const description = 'Defined by an API call, not by a file.'
  const inline = active?.definition ? [{ ...active, description }] : []
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
      {active && active.expect.length > 0 && (
        <Card title="Expectations" wide>
          <List
            items={active.expect.map(
              ({ operation, found, met }) =>
                `${operation}: ${found} calls, ${met ? 'as expected' : 'not as expected'}`,
            )}
          />
        </Card>
      )}
      {active && (
        <Fold title="Write one that extends the active one">
          <Editor name="" source={sourceFor(active)} />
        </Fold>
      )}
      <ul class="list">
        {[...inline, ...(data?.scenarios ?? [])]
          .filter(({ name, title, description }) => search.finds(`${name} ${title} ${description}`))
          .map((one) => (
            <ScenarioItem key={one.name} {...one} active={active} />
          ))}
      </ul>
    </>
  )
}

/** A first text, for what no click does. What is in no file can't be extended. */
const sourceFor = ({ name, definition }: NonNullable<Active>) => `title: My scenario
extends: ${definition ? 'default' : name}
rules:
  - when: { operation: createTransaction }
    times: 1
    then: { respond: { status: 503 } }
`

// Until the page is closed: another view must not lose an edited text.
const copies = new Map<string, string>()

function Editor({ name, source }: { name: string; source: string }) {
  const box = useRef<HTMLDivElement>(null)
  const show = useRef<(problems: readonly string[]) => void>()
  const [definition, setDefinition] = useState(copies.get(name) ?? source)
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const change = (text: string) => {
      copies.set(name, text)
      setDefinition(text)
    }
    import('../editor.ts').then(
      ({ openEditor }) => {
        if (box.current) show.current = openEditor(box.current, definition, change)
      },
      () => setProblem(GONE_TEXT),
    )
  }, [])
  return (
    <Form isTall onError={({ fields }) => show.current?.(fields.map(({ message }) => message))}>
      <p class="hint">
        It offers keys and values as you type, or with Ctrl-Space; Esc, then Tab leaves it.
      </p>
      <Problem text={problem} />
      <div ref={box} />
      <Act
        submit
        label="Activate it"
        call={callOf('setScenario', { body: { definition } })}
        effect="Your scenario is active, until you activate another."
      />
    </Form>
  )
}

type Source = ResponseBody<'readScenario'>

function SourceTable({ source, rules, webhooks }: Pick<Source, 'source' | 'rules' | 'webhooks'>) {
  const byLine = new Map([...rules, ...webhooks].map((rule) => [rule.line, rule]))
  return (
    <Table label="Source" titles={['Line', 'Hits', 'Source']} class="source">
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
    </Table>
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
            <Editor name={name} source={read.source} />
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

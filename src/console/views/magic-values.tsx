import { useLoaded } from '../data.ts'
import { Problem, Scroll } from '../ui.tsx'

type Value = { where: string; operation: string; field: string; value: string; outcome: string }

export function MagicValues() {
  const { data, problem } = useLoaded<{ magicValues: Value[] }>('/magic-values', ['scenario'])
  return (
    <>
      <h2>Magic values</h2>
      <p class="hint">
        Values to which the default scenario gives a meaning, whatever scenario is on top.
      </p>
      <Problem text={problem} />
      {data && (
        <Scroll label="Magic values">
          <table>
            <thead>
              <tr>
                <th scope="col">Where</th>
                <th scope="col">Value</th>
                <th scope="col">What becomes of it</th>
                <th scope="col">Operation</th>
              </tr>
            </thead>
            <tbody>
              {data.magicValues.map(({ where, operation, value, outcome }) => (
                <tr key={`${operation} ${where} ${value}`}>
                  <td>{where}</td>
                  <td>
                    <code>{value}</code>
                  </td>
                  <td>{outcome}</td>
                  <td>{operation}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  )
}

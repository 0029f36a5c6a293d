import { callOf } from '../api.ts'
import { SearchField, useSearch } from '../fields.tsx'
import { Heads, Problem, Scroll } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

export function MagicValues() {
  const { data, problem } = useLoaded(callOf('listMagicValues'))
  const search = useSearch()
  return (
    <>
      <h2>Magic values</h2>
      <p class="hint">
        The default scenario acts on these values. It applies where no rule of the active scenario
        matches.
      </p>
      <div class="row">
        <SearchField search={search} placeholder="PAN, .92, closed" />
      </div>
      <Problem text={problem} />
      {data && (
        <Scroll label="Magic values">
          <table class="stack">
            <Heads titles={['Where', 'Value', 'Outcome', 'Operation']} />
            <tbody>
              {data.magic_values
                .filter((one) => search.finds(Object.values(one).join(' ')))
                .map(({ where, operation, value, outcome }) => (
                  <tr key={`${operation} ${where} ${value}`}>
                    <td>{where}</td>
                    <td class="whole">
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

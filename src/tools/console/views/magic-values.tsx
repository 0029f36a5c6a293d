import { callOf } from '../api.ts'
import { Fold } from '../fields.tsx'
import { Heads, Problem, Scroll } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

function Values({ of }: { of: string }) {
  const { data, problem } = useLoaded(callOf('listMagicValues'))
  return (
    <>
      <p class="hint">They apply where no rule of the active scenario matches.</p>
      <Problem text={problem} />
      {data && (
        <Scroll label="Magic values">
          <table class="stack">
            <Heads titles={['Where', 'Value', 'Outcome']} />
            <tbody>
              {data.magic_values
                .filter(({ operation }) => operation === of)
                .map(({ where, value, outcome }) => (
                  <tr key={`${where} ${value}`}>
                    <td>{where}</td>
                    <td class="whole">
                      <code>{value}</code>
                    </td>
                    <td>{outcome}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  )
}

export const MagicValues = ({ of }: { of: string }) => (
  <Fold title="Values that decide what happens">
    <Values of={of} />
  </Fold>
)

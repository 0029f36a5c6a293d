import { callOf } from '../api.ts'
import { Fold } from '../fields.tsx'
import { Facts, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

function Values({ of }: { of: string }) {
  const { data, problem } = useLoaded(callOf('listMagicValues'))
  const own = data?.magic_values.filter(({ operation }) => operation === of) ?? []
  return (
    <>
      <p class="hint">They apply where no rule of the active scenario matches.</p>
      <Problem text={problem} />
      <Facts
        facts={Object.fromEntries(
          own.map(({ where, value, outcome }) => [`${where} ${value}`, outcome]),
        )}
      />
    </>
  )
}

export const MagicValues = ({ of }: { of: string }) => (
  <Fold title="Values that decide what happens">
    <Values of={of} />
  </Fold>
)

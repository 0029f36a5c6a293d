import type { StateDeps, WorldState } from './state.ts'

/** Exports and imports the whole state of a client. The schemas of its rows are loaded when it is first used. */
export function stateOnDemand(deps: StateDeps): () => Promise<WorldState> {
  let state: Promise<WorldState> | undefined
  return () => {
    state ??= import('./state.ts').then(({ createState }) => createState(deps))
    return state
  }
}

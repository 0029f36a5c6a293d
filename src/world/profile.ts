import type { Assumed } from '../assumptions/assumed.ts'
import { createViews, type Views } from '../payouts/response-texts.ts'
import type { SandboxTables } from '../tables/tables.ts'

/** The row of the client, and the response texts with its id. */
export class Profile {
  readonly #clients: SandboxTables['tables']['client']
  readonly #assumed: Assumed
  #views: Views

  constructor({ tables: { client } }: SandboxTables, assumed: Assumed) {
    this.#clients = client
    this.#assumed = assumed
    this.#views = this.#newViews()
  }

  #newViews() {
    return createViews(this.#clients.newest('all', 'all')!.id, this.#assumed)
  }

  get views(): Views {
    const { readings, clientId } = this.#views
    // The id changes with a reset to other fixtures or a restored snapshot.
    if (readings !== this.#assumed.readings || !this.#clients.get(clientId))
      this.#views = this.#newViews()
    return this.#views
  }

  get row() {
    return this.#clients.get(this.#views.clientId) ?? this.#clients.get(this.views.clientId)!
  }
}

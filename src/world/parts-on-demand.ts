import type { createSnapshots } from '../content/snapshots.ts'
import type { Payouts } from '../payouts/payouts.ts'
import type { createExplore } from '../webhooks/explore.ts'
import type { createInbox } from '../webhooks/inbox.ts'
import type { Profile } from './profile.ts'

type Makers = {
  explore: () => ReturnType<typeof createExplore>
  inbox: () => ReturnType<typeof createInbox>
  snapshots: () => ReturnType<typeof createSnapshots>
}

/**
 * The parts of a world that change or are made when they are first used: there may be a thousand clients, and most use
 * few parts. The getters belong to the class: those of a literal would be functions and a hidden class of each client.
 */
export class PartsOnDemand {
  readonly #profile: Profile
  readonly #payouts: Payouts
  readonly #make: Makers
  #explore: ReturnType<Makers['explore']> | undefined
  #inbox: ReturnType<Makers['inbox']> | undefined
  #snapshots: ReturnType<Makers['snapshots']> | undefined

  constructor(profile: Profile, payouts: Payouts, make: Makers) {
    this.#profile = profile
    this.#payouts = payouts
    this.#make = make
  }

  get clientId() {
    return this.#profile.views.clientId
  }

  get views() {
    return this.#profile.views
  }

  get users() {
    return this.#payouts.users
  }

  get kyc() {
    return this.#payouts.kyc
  }

  get bankAccounts() {
    return this.#payouts.bankAccounts
  }

  get payments() {
    return this.#payouts.payments
  }

  get explore() {
    this.#explore ??= this.#make.explore()
    return this.#explore
  }

  get inbox() {
    this.#inbox ??= this.#make.inbox()
    return this.#inbox
  }

  get snapshots() {
    this.#snapshots ??= this.#make.snapshots()
    return this.#snapshots
  }
}

/** Something that happened to a resource, told inside the change that made it so. */
export type ResourceEvent = {
  /** `transaction.success`, `kyc.failed`, … */
  type: string
  resourceId: string
  /** It did not happen by itself: somebody asked that it be told. */
  asked: boolean
}

/** Tells listeners, in the order they came, what happened. They may add to the change; what they throw undoes it. */
export function createResourceEvents() {
  const listeners: ((event: ResourceEvent) => void)[] = []
  return {
    on(listener: (event: ResourceEvent) => void) {
      listeners.push(listener)
    },
    emit(type: string, resourceId: string, asked = false) {
      for (const listener of listeners) listener({ type, resourceId, asked })
    },
  }
}

/** A world's announcements. */
export type ResourceEvents = ReturnType<typeof createResourceEvents>

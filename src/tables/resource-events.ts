/** An event of a resource, emitted inside the change that caused it. */
export type ResourceEvent = {
  /** `transaction.success`, `kyc.failed`, … */
  type: string
  resourceId: string
  /** A caller triggered the event; no change of the resource caused it. */
  asked: boolean
}

/**
 * Emits events to listeners in order of registration. Listeners may add to the change; if one throws, the change is
 * rolled back.
 */
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

/** The resource events of a world. */
export type ResourceEvents = ReturnType<typeof createResourceEvents>

type Parts = Record<string, Record<string, unknown>>
type Document = { paths: Parts; components: Parts }

const REFERENCE = /"#\/components\/([^/"]+)\/([^/"]+)"/g

/** The part of an OpenAPI document that describes one operation, with all that it refers to. */
export function operationPart({ paths, components }: Document, operation: string): Document {
  const part: Document = { paths: {}, components: {} }
  const add = (value: unknown) => {
    for (const [, kind, name] of JSON.stringify(value).matchAll(REFERENCE)) {
      part.components[kind!] ??= {}
      const found = part.components[kind!]!
      if (Object.hasOwn(found, name!)) continue
      found[name!] = components[kind!]![name!]
      add(found[name!])
    }
  }
  for (const [path, methods] of Object.entries(paths))
    for (const [method, one] of Object.entries(methods)) {
      if ((one as { operationId?: string }).operationId !== operation) continue
      part.paths[path] = { [method]: one }
      add(one)
    }
  return part
}

import type { AtomicChange, Op, WorldChange } from './op.ts'

// A file has the names of fields once, and the values that many rows share once: it is about a third as large as with a
// JSON object for each row, and a start reads it in two thirds of the time.
//
// - `["columns", 3, "put", "users", ["user_id", …], []]` gives the number 3 to an op on rows with these fields.
// - `[3, "e7b2…", …]` is such an op, with the values of the fields. `set` and `remove` have the id of the row first.
// - A group of fields whose values many rows share is one value, where its first field is: the number of an entry
//   `["values", 8, ["HDFC0000001", …]]`. The groups are the last item of `columns`.
// - Every other entry is the op itself.

type RowOpKind = 'put' | 'set' | 'remove'
type Row = Record<string, unknown>
type Group = readonly string[]

/** An op as a file has it, or a definition. A number may be defined again. */
export type FileEntry =
  | Exclude<Op, [RowOpKind, ...unknown[]]>
  | [
      'columns',
      number: number,
      kind: RowOpKind,
      table: string,
      names: readonly string[],
      groups: readonly Group[],
    ]
  | ['values', number: number, values: readonly unknown[]]
  | [columns: number, ...values: unknown[]]

type JournalPart = [world: string, counter: number, entries: FileEntry[]]

/** A change as a journal has it: its part if it changed one world, otherwise a list of parts. */
export type JournalLine = JournalPart | JournalPart[]

/** The groups of fields with values that many rows share, by table. */
export type RepeatedFields = Readonly<Record<string, { repeated?: readonly Group[] | undefined }>>

const NO_FIELDS: Row = {}
// A limit of memory. Of more values than this, few are shared.
const MAX_VALUES = 100_000

// ---- writing

/** The values of a group of fields that have a number, by the value of its first field. */
type Dictionary = { fields: Group; known: Map<unknown, { number: number; values: unknown[] }> }

/** The fields that have a number, in the order of the rows. */
type Columns = {
  number: number
  names: readonly string[]
  /** The dictionary of each field, if it has one. */
  dictionaries: readonly (Dictionary | undefined)[]
}

const noColumns = (): Record<RowOpKind, Map<string, Columns[]>> => ({
  put: new Map(),
  set: new Map(),
  remove: new Map(),
})

function hasValues(row: Row, fields: Group, values: readonly unknown[]): boolean {
  // The first field is the key.
  for (let i = 1; i < fields.length; i++) if (row[fields[i]!] !== values[i]) return false
  return true
}

/** Turns ops into the entries of one file. */
export class OpEncoder {
  readonly #repeated: RepeatedFields
  /** By kind of op and table. */
  #columns = noColumns()
  #columnsCount = 0
  /** By table. */
  readonly #dictionaries = new Map<string, readonly Dictionary[]>()
  #valuesCount = 0

  constructor(repeated: RepeatedFields) {
    this.#repeated = repeated
  }

  /** Adds the entries of an op to a list: definitions that the file does not have yet, then the op. */
  encode(op: Op, to: FileEntry[]) {
    switch (op[0]) {
      case 'put':
        this.#addRow('put', op[1], undefined, op[2] as Row, to)
        return
      case 'set':
        this.#addRow('set', op[1], op[2], op[3] as Row, to)
        return
      case 'remove':
        this.#addRow('remove', op[1], op[2], NO_FIELDS, to)
        return
      default:
        to.push(op)
    }
  }

  /** The JSON text of a change, which is one line of a journal. */
  encodeChange(change: AtomicChange): string {
    const parts = change.map(([world, counter, ops]): JournalPart => {
      const entries: FileEntry[] = []
      for (const op of ops) this.encode(op, entries)
      return [world, counter, entries]
    })
    return JSON.stringify(parts.length === 1 ? parts[0] : parts)
  }

  /** Starts another file; or the last entries were not written. */
  restart() {
    this.#columns = noColumns()
    this.#columnsCount = 0
    this.#dictionaries.clear()
    this.#valuesCount = 0
  }

  #addRow(kind: RowOpKind, table: string, id: string | undefined, row: Row, to: FileEntry[]) {
    // Before a row, because a number must not be given again while the row uses it.
    if (this.#valuesCount >= MAX_VALUES) this.restart()
    let known = this.#columns[kind].get(table)
    if (!known) {
      known = []
      this.#columns[kind].set(table, known)
    }
    for (const columns of known) {
      const entry = this.#entryOf(columns, id, row, to)
      if (!entry) continue
      to.push(entry)
      return
    }
    known.push(this.#defineColumns(kind, table, row, to))
    to.push(this.#entryOf(known.at(-1)!, id, row, to)!)
  }

  /** The entry of an op; `undefined` if the row does not have exactly these fields in this order. */
  #entryOf(
    { number, names, dictionaries }: Columns,
    id: string | undefined,
    row: Row,
    to: FileEntry[],
  ): FileEntry | undefined {
    const entry: [number, ...unknown[]] = id === undefined ? [number] : [number, id]
    let i = 0
    for (const name in row) {
      const value = row[name]
      if (value === undefined) continue
      if (names[i] !== name) return undefined
      const dictionary = dictionaries[i++]
      if (dictionary === undefined) entry.push(value)
      else if (dictionary.fields[0] === name) entry.push(this.#numberOf(dictionary, row, to))
    }
    return i === names.length ? entry : undefined
  }

  #defineColumns(kind: RowOpKind, table: string, row: Row, to: FileEntry[]): Columns {
    const names = Object.keys(row).filter((name) => row[name] !== undefined)
    const used = this.#dictionariesOf(table).filter(({ fields }) =>
      fields.every((field) => names.includes(field)),
    )
    const number = this.#columnsCount++
    to.push(['columns', number, kind, table, names, used.map(({ fields }) => fields)])
    const dictionaries = names.map((name) => used.find(({ fields }) => fields.includes(name)))
    return { number, names, dictionaries }
  }

  #dictionariesOf(table: string): readonly Dictionary[] {
    let found = this.#dictionaries.get(table)
    if (!found) {
      const groups = this.#repeated[table]?.repeated ?? []
      found = groups.map((fields) => ({ fields, known: new Map() }))
      this.#dictionaries.set(table, found)
    }
    return found
  }

  /** The number of the values that a row has in a group of fields. */
  #numberOf({ fields, known }: Dictionary, row: Row, to: FileEntry[]): number {
    const first = row[fields[0]!]
    const found = known.get(first)
    if (found && hasValues(row, fields, found.values)) return found.number
    const number = this.#valuesCount++
    const values = fields.map((field) => row[field])
    known.set(first, { number, values })
    to.push(['values', number, values])
    return number
  }
}

// ---- reading

type ReadColumns = {
  kind: RowOpKind
  table: string
  names: readonly string[]
  groups: readonly Group[]
  /** Compiled for the first row. */
  rowOf: RowOf | undefined
}

/** Creates a row from an entry, whose values begin at `from`. `shared` are the values with numbers. */
type RowOf = (
  entry: readonly unknown[],
  from: number,
  shared: readonly (readonly unknown[])[],
) => Row

/**
 * Compiles the function that creates rows with these fields: in V8, only an object literal creates them fast, and only in
 * a function of its own. Names are quoted, so the text of a file never becomes code.
 */
function compileRowOf(names: readonly string[], groups: readonly Group[]): RowOf {
  const sources = new Map<string, string>()
  let column = 0
  for (const name of names) {
    const group = groups.find((fields) => fields.includes(name))
    if (!group) sources.set(name, `entry[from + ${column++}]`)
    else if (group[0] === name) {
      for (const [i, field] of group.entries())
        sources.set(field, `shared[entry[from + ${column}]][${i}]`)
      column++
    }
  }
  const fields = names.map((name) => `${JSON.stringify(name)}: ${sources.get(name)}`)
  return new Function(...['entry', 'from', 'shared'], `return { ${fields.join(', ')} }`) as RowOf
}

/** Turns the entries of one file into ops. */
export class OpDecoder {
  readonly #columns: ReadColumns[] = []
  readonly #values: (readonly unknown[])[] = []

  /** The op of an entry; `undefined` if the entry is a definition. */
  decode(entry: FileEntry): Op | undefined {
    const [first] = entry
    if (typeof first === 'number') return this.#rowOp(this.#columns[first]!, entry)
    switch (first) {
      case 'columns': {
        const [, number, kind, table, names, groups] = entry as FileEntry & { 0: 'columns' }
        this.#columns[number] = { kind, table, names, groups, rowOf: undefined }
        return undefined
      }
      case 'values': {
        const [, number, values] = entry as FileEntry & { 0: 'values' }
        this.#values[number] = values
        return undefined
      }
      default:
        return entry as Op
    }
  }

  /** The change of a line of a journal. */
  decodeChange(line: JournalLine): AtomicChange {
    const parts = typeof line[0] === 'string' ? [line as JournalPart] : (line as JournalPart[])
    return parts.map(([world, counter, entries]): WorldChange => {
      const ops: Op[] = []
      for (const entry of entries) {
        const op = this.decode(entry)
        if (op) ops.push(op)
      }
      return [world, counter, ops]
    })
  }

  #rowOp(columns: ReadColumns, entry: readonly unknown[]): Op {
    const { kind, table } = columns
    if (kind === 'put') return [kind, table, this.#rowOf(columns, entry, 1)]
    const id = entry[1] as string
    return kind === 'set' ? [kind, table, id, this.#rowOf(columns, entry, 2)] : [kind, table, id]
  }

  #rowOf(columns: ReadColumns, entry: readonly unknown[], from: number): Row {
    columns.rowOf ??= compileRowOf(columns.names, columns.groups)
    return columns.rowOf(entry, from, this.#values)
  }
}

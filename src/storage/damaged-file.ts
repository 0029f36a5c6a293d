/** The format of the document and the journals. A version reads only its own format. */
export const FORMAT = 5

/** The position and the description of a damage in a file. */
export type Damage = { file: string; line: number; byte: number; what: string }

/** A data file is damaged. It is not changed. */
export class DamagedFile extends Error {
  readonly damage: Damage
  constructor(damage: Damage) {
    super(`${damage.file}: line ${damage.line}, byte ${damage.byte}: ${damage.what}`)
    this.name = 'DamagedFile'
    this.damage = damage
  }
}

/** A file in the format of another version: it is not damaged, but this version cannot read it. */
export class OtherFormat extends DamagedFile {
  constructor(file: string, format: unknown) {
    const what = `it has format ${format}, but this version only reads format ${FORMAT}`
    super({ file, line: 1, byte: 0, what })
    this.name = 'OtherFormat'
  }
}

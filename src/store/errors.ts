/** The format of the document and the journal. A version reads only its own format. */
export const FORMAT = 6

/** The data file cannot be read as it is. It is not changed. */
export class UnreadableFile extends Error {
  override name = this.constructor.name
}

/** How to go on without a journal that cannot be applied. */
export const START_WITHOUT = "To start without the journal's changes, move it away"

/** A file is damaged, or was edited to something that is not valid. */
export class DamagedFile extends UnreadableFile {}

/** A file in the format of another version: it is not damaged, but this version cannot read it. */
export class OtherFormat extends UnreadableFile {
  constructor(file: string, format: unknown) {
    super(`${file} has format ${format}, but this version only reads format ${FORMAT}`)
  }
}

/** There is a data file already, but the sandbox starts from a state. */
export class DataFileExists extends UnreadableFile {
  constructor(file: string) {
    super(`The data file ${file} exists already, and --state starts a new one`)
  }
}

/** The document was changed beside a journal whose changes belong to its earlier content. */
export class EditedBesideJournal extends UnreadableFile {
  constructor(file: string, journal: string, changes: number, isThere: boolean) {
    const count = changes === 1 ? 'one change' : `${changes} changes`
    super(
      `${file} was ${isThere ? 'edited or replaced' : 'removed'}, but the journal ${journal} of a killed sandbox still has ${count} to its earlier content. ` +
        `To keep the changes, put the earlier ${isThere ? 'content of the file' : 'file'} back; to start without them, move the journal away`,
    )
  }
}

/** The path of a store file is something that the store cannot use, such as a folder. It is not changed. */
export class UnusableFile extends Error {
  override name = 'UnusableFile'
}

export class FileInUse extends Error {
  override name = 'FileInUse'

  constructor(file: string, owner: string) {
    super(`${file} is in use by ${owner}`)
  }
}

/** This process no longer owns its data file, and never writes it again. */
export class LostOwnership extends Error {}

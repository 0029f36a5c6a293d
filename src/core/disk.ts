import fs from 'node:fs'

/** The calls of the file system that the store makes: its one door to the disk, behind which a fault can be put. */
export type Disk = Pick<
  typeof fs,
  | 'closeSync'
  | 'copyFileSync'
  | 'fdatasyncSync'
  | 'fsync'
  | 'fsyncSync'
  | 'ftruncateSync'
  | 'linkSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readFileSync'
  | 'readlinkSync'
  | 'rename'
  | 'renameSync'
  | 'statSync'
  | 'unlinkSync'
  | 'utimesSync'
  | 'write'
  | 'writeFileSync'
  | 'writeSync'
>

/** The file system as it is. */
export const nodeDisk: Disk = fs

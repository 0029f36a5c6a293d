import fs from 'node:fs'

/** The calls of the file system that the store makes: its one door to the disk, behind which a fault can be put. */
export type Disk = Pick<
  typeof fs,
  | 'chmodSync'
  | 'closeSync'
  | 'copyFileSync'
  | 'fdatasyncSync'
  | 'fsync'
  | 'fstatSync'
  | 'fsyncSync'
  | 'ftruncateSync'
  | 'linkSync'
  | 'lstatSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readdirSync'
  | 'readFileSync'
  | 'readlinkSync'
  | 'rename'
  | 'renameSync'
  | 'rmdirSync'
  | 'statSync'
  | 'unlinkSync'
  | 'utimesSync'
  | 'write'
  | 'writeFileSync'
  | 'writeSync'
>

/** The file system as it is. */
export const nodeDisk: Disk = fs

import fs from 'node:fs'

/** The file system calls of the store. All go through this interface, so that a test can inject faults. */
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
  | 'readSync'
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

/** The real file system. */
export const nodeDisk: Disk = fs

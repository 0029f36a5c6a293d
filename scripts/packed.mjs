// npm pack: the packed package.json has no scripts, so npm warns of none at an install. `prepack` puts it in place, and `postpack`
// takes it back. An install from a git address packs without them, since its `prepare` builds.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'

const [file, kept] = ['package.json', '.package.json'].map(
  (name) => new URL(`../${name}`, import.meta.url),
)
if (process.argv[2] === '--undo') renameSync(kept, file)
else {
  const { scripts: _, ...rest } = JSON.parse(readFileSync(file, 'utf8'))
  // A rename keeps its time, by which the build knows whether it is fresh.
  renameSync(file, kept)
  writeFileSync(file, `${JSON.stringify(rest, null, 2)}\n`)
}

import { main } from './cli/main.ts'

main(process.argv.slice(2), process.env).then((code) => {
  process.exitCode = code
})

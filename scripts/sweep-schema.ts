import { writeFileSync } from 'node:fs'
import { sweepJsonSchema } from '../src/tools/sweep/report/sweep-json.ts'

// Writes the JSON schema of sweep.json: node --import tsx scripts/sweep-schema.ts
writeFileSync(new URL('../docs/sweep.schema.json', import.meta.url), sweepJsonSchema())

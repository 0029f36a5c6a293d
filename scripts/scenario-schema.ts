import { writeFileSync } from 'node:fs'
import { scenarioJsonSchema } from '../src/scenarios/json-schema.ts'

// Writes the schema that editors use anew: node --import tsx scripts/scenario-schema.ts
writeFileSync(new URL('../scenarios/scenario.schema.json', import.meta.url), scenarioJsonSchema())

import { writeFileSync } from 'node:fs'
import { scenarioJsonSchema } from '../src/scenarios/scenario-schema.ts'

// Writes the JSON schema for editors: node --import tsx scripts/scenario-schema.ts
writeFileSync(new URL('../scenarios/scenario.schema.json', import.meta.url), scenarioJsonSchema())

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { GENERATED_FILES } from "./Monitoring.ts"

const folder = fileURLToPath(new URL("../deploy", import.meta.url))
for (const [file, generate] of Object.entries(GENERATED_FILES)) writeFileSync(join(folder, file), generate(folder))

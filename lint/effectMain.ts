import { fileURLToPath } from "node:url"
import { hasEffectDiagnostics, readEffectDiagnostics } from "./EffectDiagnostics.ts"

if (hasEffectDiagnostics) {
  const report = readEffectDiagnostics(fileURLToPath(new URL("../tsconfig.effect.json", import.meta.url)))
  console.log(report.text.trim())
  process.exitCode = report.clean ? 0 : 1
} else {
  console.log(`Effect diagnostics skipped: their package for ${process.platform}-${process.arch} is not installed.`)
  // Optional on a developer's machine, required in CI.
  process.exitCode = process.env["CI"] === undefined ? 0 : 1
}

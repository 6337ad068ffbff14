import { RELEASES } from "./Release.ts"
import { upgrade, WHOLE } from "./Upgrade.ts"

/** Upgrades from each recorded release to this version under load, goes back, and upgrades again. */
const say = (line: string) => void process.stdout.write(`${line}\n`)
const WORK = 20
let failed = 0
for (const version of RELEASES) {
  say(`from ${version}`)
  const { continued, problems } = await upgrade(version, { steps: WHOLE, work: WORK, say })
  for (const [from, to] of Object.entries(continued)) say(`an operation that was ${from} is ${to}`)
  for (const problem of problems) say(`PROBLEM: ${problem}`)
  failed += problems.length
}
say(failed === 0 ? "no problem" : `${failed} problems`)
process.exit(failed === 0 ? 0 : 1)

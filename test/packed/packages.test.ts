import { afterAll, beforeAll, describe } from "vitest"
import { agentctlSuite } from "./agentctlSuite.ts"
import { hostsSuite } from "./hostsSuite.ts"
import { install, type Installation } from "./Installation.ts"
import { typesSuite } from "./typesSuite.ts"

let installation: Installation
const installed = () => installation

beforeAll(async () => {
  installation = await install()
}, 300_000)
afterAll(() => installation?.stop())

describe("the declarations of installed packages", () => typesSuite(installed))
describe("an installed package, in a host", () => hostsSuite(installed))
describe("agentctl, installed", () => agentctlSuite(installed))

import { useCliRig } from "./CliRig.ts"
import { devSuite } from "./devSuite.ts"
import { driveSuite } from "./driveSuite.ts"
import { journeySuite } from "./journeySuite.ts"
import { mcpSuite } from "./mcpSuite.ts"
import { paymentSuite } from "./paymentSuite.ts"
import { purchaseSuite } from "./purchaseSuite.ts"
import { sessionSuite } from "./sessionSuite.ts"

/** The suites of agentctl against the whole service, in one sandbox; terminal.test.ts has the rest. */
const rig = useCliRig()

driveSuite(rig)
sessionSuite(rig)
journeySuite(rig)
purchaseSuite(rig)
paymentSuite(rig)
mcpSuite(rig)
devSuite(rig)

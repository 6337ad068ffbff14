import { useCliRig } from "./CliRig.ts"
import { devSuite } from "./devSuite.ts"
import { paymentSuite } from "./paymentSuite.ts"
import { promptSuite } from "./promptSuite.ts"
import { purchaseSuite } from "./purchaseSuite.ts"
import { sessionSuite } from "./sessionSuite.ts"

/** Every suite of agentctl that needs the whole service, in one sandbox. */
const rig = useCliRig()

sessionSuite(rig)
purchaseSuite(rig)
promptSuite(rig)
paymentSuite(rig)
devSuite(rig)

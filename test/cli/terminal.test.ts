import { useCliRig } from "./CliRig.ts"
import { terminalSuite } from "./driveSuite.ts"

/**
 * Nearly every command in a terminal, on success, failure and interruption: 170 processes. The tests of packages/cli
 * record the same for each command in their own process.
 */
terminalSuite(useCliRig())

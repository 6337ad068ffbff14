/** What can be made to fail, and how; see the sandbox's FaultPlan. */
export interface PlannedFault {
  readonly operation: "verify" | "settle" | "send"
  readonly mode: "before" | "after" | "reject" | "hang"
  readonly times?: number
  readonly only?: string
}

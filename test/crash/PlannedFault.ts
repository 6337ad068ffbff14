/** What can be made to fail, and how; see the sandbox's FaultPlan. */
export interface PlannedFault {
  readonly operation: FacilitatorFault | "send" | CarrierFault
  readonly mode: "before" | "after" | "reject" | "hang"
  readonly times?: number
  readonly only?: string
}

export type FacilitatorFault = "settle"
export type CarrierFault = "search" | "buy" | "call" | "update"

import { Schema } from "effect"

/** The database, or the way to it, can't serve as configured. It is an error of opening a database, never a defect. */
export class DatabaseUnsuitable extends Schema.TaggedError<DatabaseUnsuitable>()("DatabaseUnsuitable", {
  /** The unsuitable property, in one line without a final period. */
  problem: Schema.String,
  /** The change that the operator should make, as a sentence. */
  fix: Schema.String,
  /** False if the same configuration may work later: other programs use the connections. */
  isPermanent: Schema.Boolean
}) {
  override get message(): string {
    return `the database can't be used: ${this.problem}. ${this.fix}`
  }
}

/** An unsuitable database that stays so until an operator changes something. */
export const unsuitable = (problem: string, fix: string): DatabaseUnsuitable =>
  new DatabaseUnsuitable({ problem, fix, isPermanent: true })

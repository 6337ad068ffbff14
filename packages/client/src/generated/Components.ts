// Generated from the OpenAPI document by `npx -y pnpm@12 generate`.
export interface components {
    schemas: {
        Error: {
            error: {
                code: components["schemas"]["ErrorCode"];
                message: string;
                requestId: string;
                retryable: boolean;
                paymentState?: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
                operationId?: string;
                next?: components["schemas"]["NextCall"];
                issues?: components["schemas"]["Issue"][];
                onboarding?: components["schemas"]["Onboarding"];
                quota?: "mail_recipients_per_day" | "mail_sending_paused" | "calls_at_once" | "calls_per_hour" | "calls_to_one_number" | "calls_short";
                transaction?: components["schemas"]["WalletTransaction"];
            };
            guides: components["schemas"]["Guides"];
        };
        RealtimeClientMessage: components["schemas"]["SessionAuthenticate"] | components["schemas"]["EventAcknowledge"] | components["schemas"]["CallReply"];
        RealtimeServerMessage: components["schemas"]["SessionReady"] | components["schemas"]["EventDelivery"] | components["schemas"]["EventObserved"] | components["schemas"]["SessionReplayComplete"] | components["schemas"]["EventAcknowledged"] | components["schemas"]["EventAcknowledgementStale"] | components["schemas"]["CallTurn"] | components["schemas"]["CallInterrupted"] | components["schemas"]["RealtimeError"];
        Operations: {
            describeApi: {
                input: Record<string, unknown>;
                output: components["schemas"]["ApiDescription"];
            };
            listServices: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["Service"][];
                };
            };
            getService: {
                input: {
                    serviceId: string;
                };
                output: {
                    service: components["schemas"]["Service"];
                };
            };
            createMailbox: {
                input: components["schemas"]["CreateMailboxInput"];
                output: {
                    mailbox: components["schemas"]["Mailbox"];
                    authentication: components["schemas"]["Authentication"];
                    operationId: string;
                };
            };
            listMailboxes: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["Mailbox"][];
                };
            };
            updateMailbox: {
                input: components["schemas"]["UpdateMailboxInput"];
                output: {
                    mailbox: components["schemas"]["Mailbox"];
                    operationId: string;
                };
            };
            deleteMailbox: {
                input: components["schemas"]["DeleteMailboxInput"];
                output: {
                    mailboxId: string;
                    deleted: true;
                    messagesDeleted: number;
                    operationId: string;
                };
            };
            sendMessage: {
                input: components["schemas"]["SendMessageInput"];
                output: {
                    message: components["schemas"]["Message"];
                    operationId: string;
                };
            };
            queryMessages: {
                input: {
                    mailboxId?: string;
                    messageId?: string;
                    threadId?: string;
                    direction?: "inbound" | "outbound";
                    from?: string;
                    q?: string;
                    label?: string;
                    unread?: boolean;
                    limit?: number;
                    cursor?: string;
                    after?: string;
                    before?: string;
                };
                output: components["schemas"]["MessagePage"] | components["schemas"]["SingleMessage"];
            };
            purchaseUsNumber: {
                input: components["schemas"]["PurchaseNumberInput"];
                output: {
                    phoneNumberId: string;
                    number: string;
                    callbackVerificationSecret: string;
                    phoneNumber: components["schemas"]["PhoneNumber"];
                    authentication: components["schemas"]["Authentication"];
                    operationId: string;
                };
            };
            purchaseCanadaNumber: {
                input: components["schemas"]["PurchaseNumberInput"];
                output: {
                    phoneNumberId: string;
                    number: string;
                    callbackVerificationSecret: string;
                    phoneNumber: components["schemas"]["PhoneNumber"];
                    authentication: components["schemas"]["Authentication"];
                    operationId: string;
                };
            };
            renewNumber: {
                input: components["schemas"]["NumberIdInput"];
                output: {
                    phoneNumber: components["schemas"]["PhoneNumber"];
                    operationId: string;
                };
            };
            callOneMinute: {
                input: components["schemas"]["PlaceCallInput"];
                output: {
                    call: components["schemas"]["Call"];
                    operationId: string;
                };
            };
            callFiveMinutes: {
                input: components["schemas"]["PlaceCallInput"];
                output: {
                    call: components["schemas"]["Call"];
                    operationId: string;
                };
            };
            extendCall: {
                input: components["schemas"]["CallIdInput"];
                output: {
                    call: components["schemas"]["Call"];
                    operationId: string;
                };
            };
            addInboundMinutes: {
                input: components["schemas"]["NumberIdInput"];
                output: {
                    phoneNumber: components["schemas"]["PhoneNumber"];
                    operationId: string;
                };
            };
            releaseNumber: {
                input: components["schemas"]["ReleaseNumberInput"];
                output: {
                    phoneNumber: components["schemas"]["PhoneNumber"];
                };
            };
            listNumbers: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["PhoneNumber"][];
                };
            };
            getCall: {
                input: {
                    callId: string;
                };
                output: {
                    call: components["schemas"]["Call"];
                };
            };
            getTranscript: {
                input: {
                    callId: string;
                    limit?: number;
                    cursor?: string;
                };
                output: {
                    transcript: components["schemas"]["Transcript"];
                    nextCursor: string | null;
                };
            };
            getRealtimeToken: {
                input: {
                    cursor?: string;
                };
                output: {
                    realtime: {
                        token: string;
                        expiresAt: string;
                        websocketUrl: string;
                    };
                    items: components["schemas"]["EventRecord"][];
                    nextCursor?: string | null;
                    pending?: number;
                };
            };
            listEvents: {
                input: components["schemas"]["ListEventsInput"];
                output: {
                    items: components["schemas"]["EventRecord"][];
                    nextCursor: string | null;
                };
            };
            getEvent: {
                input: components["schemas"]["EventIdInput"];
                output: {
                    event: components["schemas"]["EventRecord"];
                };
            };
            acknowledgeEvent: {
                input: components["schemas"]["EventIdInput"];
                output: {
                    event: components["schemas"]["EventRecord"];
                };
            };
            acknowledgeAllEvents: {
                input: components["schemas"]["AcknowledgeAllInput"];
                output: {
                    acknowledged: number;
                };
            };
            replayEvents: {
                input: {
                    limit?: number;
                    cursor?: string;
                };
                output: {
                    items: components["schemas"]["EventRecord"][];
                    nextCursor?: string | null;
                    pending?: number;
                };
            };
            acknowledgeEventById: {
                input: {
                    eventId: string;
                };
                output: {
                    event: components["schemas"]["EventRecord"];
                };
            };
            registerDomain: {
                input: Record<string, unknown>;
                output: unknown;
            };
            recoverToken: {
                input: Record<string, unknown>;
                output: {
                    authentication: {
                        accessToken: string;
                    };
                };
            };
            revokeTokens: {
                input: Record<string, unknown>;
                output: {
                    authentication: {
                        accessToken: string;
                    };
                };
            };
            listCalls: {
                input: {
                    phoneNumberId?: string;
                    direction?: "inbound" | "outbound";
                    after?: string;
                    before?: string;
                    limit?: number;
                    cursor?: string;
                };
                output: {
                    items: components["schemas"]["Call"][];
                    nextCursor: string | null;
                };
            };
            listVoices: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["Voice"][];
                };
            };
            setEventWebhook: {
                input: components["schemas"]["SetEventWebhookInput"];
                output: {
                    webhook: components["schemas"]["EventWebhook"];
                    signingSecret: string;
                };
            };
            getEventWebhook: {
                input: Record<string, unknown>;
                output: {
                    webhook: components["schemas"]["EventWebhook"];
                };
            };
            deleteEventWebhook: {
                input: Record<string, unknown>;
                output: {
                    webhookId: string;
                    deleted: true;
                };
            };
            listWebhookDeliveries: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["WebhookDelivery"][];
                };
            };
            queryThreads: {
                input: {
                    mailboxId?: string;
                    threadId?: string;
                    label?: string;
                    unread?: boolean;
                    limit?: number;
                    cursor?: string;
                };
                output: components["schemas"]["ThreadPage"] | components["schemas"]["SingleThread"];
            };
            updateMessages: {
                input: components["schemas"]["UpdateMessagesInput"];
                output: {
                    items: {
                        messageId: string;
                        labels: string[];
                        unread: boolean;
                    }[];
                };
            };
            cancelMessage: {
                input: components["schemas"]["CancelMessageInput"];
                output: {
                    message: components["schemas"]["Message"];
                };
            };
            getAttachment: {
                input: {
                    messageId: string;
                    attachmentId: string;
                };
                output: unknown;
            };
            getRawMessage: {
                input: {
                    messageId: string;
                };
                output: unknown;
            };
            listSuppressions: {
                input: {
                    limit?: number;
                    cursor?: string;
                };
                output: {
                    items: components["schemas"]["Suppression"][];
                    nextCursor: string | null;
                };
            };
            liftSuppression: {
                input: components["schemas"]["LiftSuppressionInput"];
                output: {
                    address: string;
                    lifted: boolean;
                };
            };
            listPaymentNetworks: {
                input: {
                    wallet?: string;
                };
                output: {
                    items: components["schemas"]["PaymentNetwork"][];
                };
            };
            readPaymentStatus: {
                input: {
                    "PAYMENT-SIGNATURE": string;
                };
                output: {
                    payment: components["schemas"]["PaymentStatus"];
                };
            };
            getPayment: {
                input: {
                    operationId: string;
                };
                output: {
                    payment: components["schemas"]["PaymentStatus"];
                };
            };
            listLimits: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["Limit"][];
                    sendingPause: components["schemas"]["SendingPause"] | null;
                    callableCountries: string[];
                    wallet: string;
                };
            };
        };
        ErrorCode: "INVALID_REQUEST" | "AUTH_REQUIRED" | "INVALID_TOKEN" | "PAYMENT_REQUIRED" | "FORBIDDEN" | "RESOURCE_NOT_OWNED" | "RESOURCE_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYMENT_PENDING" | "ALLOWANCE_EXHAUSTED" | "NUMBER_EXPIRING" | "NUMBER_RELEASED" | "ANSWER_EXPIRED" | "PERMIT2_ALLOWANCE_REQUIRED" | "PAYLOAD_TOO_LARGE" | "URI_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "UPGRADE_REQUIRED" | "ONBOARDING_REQUIRED" | "RATE_LIMITED" | "QUOTA_EXCEEDED" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "PROVIDER_TEMPORARY_FAILURE" | "PROVIDER_REJECTED" | "SERVICE_UNAVAILABLE";
        NextCall: {
            method: "GET" | "POST" | "DELETE";
            path: string;
            body?: Record<string, unknown>;
        };
        Issue: {
            path: string;
            message: string;
        };
        Onboarding: {
            serviceId: components["schemas"]["ServiceId"];
            method: "GET" | "POST";
            endpoint: string;
            price: components["schemas"]["Price"];
            requiredInput: {
                name: string;
                description: string;
            }[];
        };
        ServiceId: "discovery.api" | "discovery.services" | "email.mailbox.create" | "email.mailbox.list" | "email.mailbox.update" | "email.mailbox.delete" | "email.message.send" | "email.message.query" | "phone.number.us.30d" | "phone.number.ca.30d" | "phone.number.renew.30d" | "phone.call.outbound.1m" | "phone.call.outbound.5m" | "phone.call.extend.1m" | "phone.call.inbound.add.10m" | "phone.number.release" | "phone.number.list" | "phone.call.get" | "phone.call.transcript" | "events.realtime-token" | "events.list" | "events.get" | "events.ack" | "events.ack-all" | "domain.register" | "auth.token" | "auth.revoke" | "phone.call.list" | "phone.voice.list" | "events.webhook.set" | "events.webhook.get" | "events.webhook.delete" | "events.webhook.deliveries" | "email.thread.query" | "email.message.update" | "email.message.cancel" | "email.message.attachment" | "email.message.raw" | "email.suppression.list" | "email.suppression.lift" | "payment.networks" | "payment.status" | "payment.get" | "limits.list";
        Price: {
            amount: string;
            asset: "USDT";
        };
        WalletTransaction: {
            network: string;
            to: string;
            data: string;
        };
        Guides: {
            llms: string;
            serviceCatalog: string;
            openapi: string;
        };
        SessionAuthenticate: {
            type: "session.authenticate";
            token: string;
            mode?: "deliver" | "observe" | "voice";
            phoneNumberIds?: string[];
        };
        EventAcknowledge: {
            type: "event.ack";
            eventId: string;
            deliveryId?: string;
        };
        CallReply: {
            type: "call.reply";
            callId: string;
            turnId: string;
            text?: string;
            digits?: string;
            hangup?: boolean;
            silenceSeconds?: number;
            more?: boolean;
            decline?: boolean;
        };
        SessionReady: {
            type: "session.ready";
            sessionId: string;
            leaseSeconds: number;
            maxInFlight: number;
            pending: number;
        };
        EventDelivery: {
            type: "event.delivery";
            deliveryId: string;
            event: components["schemas"]["EventRecord"];
        };
        EventRecord: components["schemas"]["EmailReceivedEvent"] | components["schemas"]["PhoneCallStartedEvent"] | components["schemas"]["PhoneCallEndedEvent"] | components["schemas"]["PhoneNumberExpiringEvent"] | components["schemas"]["PhoneNumberRenewedEvent"] | components["schemas"]["PhoneNumberReleasedEvent"] | components["schemas"]["PhoneNumberSuspendedEvent"] | components["schemas"]["PhoneNumberReconciledEvent"] | components["schemas"]["PaymentCompletedEvent"] | components["schemas"]["PaymentFailedEvent"] | components["schemas"]["PaymentRefundedEvent"] | components["schemas"]["EventsWebhookPausedEvent"];
        EmailReceivedEvent: components["schemas"]["Event"] & {
            type: "email.received";
            payload: components["schemas"]["EmailReceivedPayload"];
        };
        Event: {
            eventId: string;
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            source: string;
            service: string;
            resourceId: string;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            acknowledgedAt: string | null;
            expiresAt: string;
            deliveryCount: number;
        };
        EmailReceivedPayload: {
            type: "email.received";
            eventId: string;
            mailboxId: string;
            emailId: string;
            from: string;
            subject: string;
            authentication: components["schemas"]["SenderAuthentication"] | null;
            automatic: "auto_replied" | "auto_generated" | "mailing_list" | "bulk" | "no_auto_reply" | "null_sender" | null;
            receivedAt: string;
        };
        SenderAuthentication: {
            spf: string;
            dkim: string;
            dmarc: string;
            domain: string | null;
        };
        PhoneCallStartedEvent: components["schemas"]["Event"] & {
            type: "phone.call.started";
            payload: components["schemas"]["PhoneCallStartedPayload"];
        };
        PhoneCallStartedPayload: {
            type: "phone.call.started";
            eventId: string;
            callId: string;
            phoneNumberId: string;
            direction: "inbound" | "outbound";
            fromNumber: string | null;
            fromWithheld?: "anonymous" | "restricted" | "unavailable" | "unknown" | null;
            toNumber: string;
            answeredAt: string | null;
        };
        PhoneCallEndedEvent: components["schemas"]["Event"] & {
            type: "phone.call.ended";
            payload: components["schemas"]["PhoneCallEndedPayload"];
        };
        PhoneCallEndedPayload: {
            type: "phone.call.ended";
            eventId: string;
            callId: string;
            phoneNumberId: string;
            direction: "inbound" | "outbound";
            fromNumber: string | null;
            fromWithheld?: "anonymous" | "restricted" | "unavailable" | "unknown" | null;
            toNumber: string;
            endReason: "completed" | "hangup_agent" | "time_limit" | "no_answer" | "busy" | "failed" | "allowance_exhausted" | null;
            answeredBy?: "person" | "machine" | "fax" | null;
            connectedSeconds: number;
            answeredAt: string | null;
            endedAt: string | null;
            declinedCalls?: number;
        };
        PhoneNumberExpiringEvent: components["schemas"]["Event"] & {
            type: "phone.number.expiring";
            payload: components["schemas"]["PhoneNumberExpiringPayload"];
        };
        PhoneNumberExpiringPayload: {
            type: "phone.number.expiring";
            eventId: string;
            phoneNumberId: string;
            number: string;
            daysBefore: 5 | 3 | 1;
            expiresAt: string;
            renewalDeadline: string;
            price: components["schemas"]["Price"] | null;
            renewalEndpoint: {
                method: "GET" | "POST" | "DELETE";
                path: string;
            };
            requestBody: {
                phoneNumberId: string;
            };
            releaseWarning: string;
        };
        PhoneNumberRenewedEvent: components["schemas"]["Event"] & {
            type: "phone.number.renewed";
            payload: components["schemas"]["PhoneNumberRenewedPayload"];
        };
        PhoneNumberRenewedPayload: {
            type: "phone.number.renewed";
            eventId: string;
            phoneNumberId: string;
            number: string;
            expiresAt: string;
            operationId: string;
        };
        PhoneNumberReleasedEvent: components["schemas"]["Event"] & {
            type: "phone.number.released";
            payload: components["schemas"]["PhoneNumberReleasedPayload"];
        };
        PhoneNumberReleasedPayload: {
            type: "phone.number.released";
            eventId: string;
            phoneNumberId: string;
            number: string;
            reason: "expired" | "release_requested" | null;
            releasedAt: string | null;
        };
        PhoneNumberSuspendedEvent: components["schemas"]["Event"] & {
            type: "phone.number.suspended";
            payload: components["schemas"]["PhoneNumberSuspendedPayload"];
        };
        PhoneNumberSuspendedPayload: {
            type: "phone.number.suspended";
            eventId: string;
            phoneNumberId: string;
            number: string;
            expiresAt: string;
        };
        PhoneNumberReconciledEvent: components["schemas"]["Event"] & {
            type: "phone.number.reconciled";
            payload: components["schemas"]["PhoneNumberReconciledPayload"];
        };
        PhoneNumberReconciledPayload: {
            type: "phone.number.reconciled";
            eventId: string;
            phoneNumberId: string;
            number: string;
            finding: string;
            releasedAt: string | null;
        };
        PaymentCompletedEvent: components["schemas"]["Event"] & {
            type: "payment.completed";
            payload: components["schemas"]["PaymentCompletedPayload"];
        };
        PaymentCompletedPayload: {
            type: "payment.completed";
            eventId: string;
            operationId: string;
            serviceId: components["schemas"]["ServiceId"];
            endpoint: string;
            requestId: string;
            price?: components["schemas"]["Price"];
            baseUnits: string;
            network: string;
            token: string;
            symbol?: string;
            payer: string;
            payTo: string;
            transaction: string | null;
            paymentState: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
        };
        PaymentFailedEvent: components["schemas"]["Event"] & {
            type: "payment.failed";
            payload: components["schemas"]["PaymentFailedPayload"];
        };
        PaymentFailedPayload: {
            type: "payment.failed";
            eventId: string;
            operationId: string;
            serviceId: components["schemas"]["ServiceId"];
            endpoint: string;
            requestId: string;
            price?: components["schemas"]["Price"];
            baseUnits: string;
            network: string;
            token: string;
            symbol?: string;
            payer: string;
            payTo: string;
            transaction: string | null;
            paymentState: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
            reason: {
                kind: "used_before" | "settled_elsewhere" | "refused" | "expired" | "used_otherwise" | "rejected" | "gone" | "late" | "canceled";
                message: string;
            } | null;
        };
        PaymentRefundedEvent: components["schemas"]["Event"] & {
            type: "payment.refunded";
            payload: components["schemas"]["PaymentRefundedPayload"];
        };
        PaymentRefundedPayload: {
            type: "payment.refunded";
            eventId: string;
            operationId: string;
            serviceId: components["schemas"]["ServiceId"];
            endpoint: string;
            requestId: string;
            price?: components["schemas"]["Price"];
            baseUnits: string;
            network: string;
            token: string;
            symbol?: string;
            payer: string;
            payTo: string;
            transaction: string | null;
            paymentState: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
            amount?: components["schemas"]["Price"];
            paymentTransaction: string | null;
        };
        EventsWebhookPausedEvent: components["schemas"]["Event"] & {
            type: "events.webhook.paused";
            payload: components["schemas"]["EventsWebhookPausedPayload"];
        };
        EventsWebhookPausedPayload: {
            type: "events.webhook.paused";
            eventId: string;
            webhookId: string;
            url: string;
            pausedAt: string;
            undeliveredEventId: string;
            error: string;
        };
        EventObserved: {
            type: "event.observed";
            event: components["schemas"]["EventRecord"];
        };
        SessionReplayComplete: {
            type: "session.replay.complete";
            delivered: number;
        };
        EventAcknowledged: {
            type: "event.acknowledged";
            eventId: string;
        };
        EventAcknowledgementStale: {
            type: "event.ack_stale";
            eventId: string;
            reason?: "lease_lost" | "expired";
        };
        CallTurn: {
            type: "call.turn";
            callId: string;
            turnId: string;
            phoneNumberId: string;
            direction: "inbound" | "outbound";
            from: string | null;
            fromWithheld: "anonymous" | "restricted" | "unavailable" | "unknown" | null;
            to: string;
            turn: {
                text: string;
                at: string;
            };
            transcriptSoFar: {
                role: "agent" | "caller" | "system";
                text: string;
                at: string;
            }[];
        };
        CallInterrupted: {
            type: "call.interrupted";
            callId: string;
            turnId: string;
        };
        RealtimeError: {
            type: "error";
            code: components["schemas"]["ErrorCode"];
            message: string;
        };
        ApiDescription: {
            name: string;
            version: string;
            environment: "production" | "sandbox";
            authentication: {
                scheme: "bearer";
                tokenPrefix: string;
                startHere: components["schemas"]["ServiceId"][];
                rules: string[];
            };
            payment: {
                protocol: "x402";
                x402Version: 2;
                scheme: "exact";
                accepts: {
                    network: string;
                    asset: string;
                    payTo: string;
                    maxTimeoutSeconds: number;
                    extra: {
                        [key: string]: string | number;
                    };
                }[];
            };
            guides: {
                llms: string;
                serviceCatalog: string;
                openapi: string;
                docs: string;
            };
            services: {
                serviceId: components["schemas"]["ServiceId"];
                method: "GET" | "POST" | "DELETE";
                path: string;
                price: components["schemas"]["Price"] | null;
                available: boolean;
                extension?: true;
            }[];
        };
        Service: {
            serviceId: components["schemas"]["ServiceId"];
            method: "GET" | "POST" | "DELETE";
            path: string;
            price: components["schemas"]["Price"] | null;
            authentication: "none" | "x402-bootstrap" | "bearer" | "sign-in-with-x" | "unavailable";
            startHere: boolean;
            available: boolean;
            marketplaceListing: boolean;
            extension?: true;
            guide: string;
            purpose: string;
            inputs: {
                name: string;
                in: "body" | "query" | "path";
                required: boolean;
                type: string;
                format?: string;
                example: unknown;
                description: string;
            }[];
            errors: components["schemas"]["ErrorCode"][];
            nextActions: {
                serviceId: components["schemas"]["ServiceId"];
                method: "GET" | "POST" | "DELETE";
                path: string;
                why: string;
            }[];
        };
        CreateMailboxInput: {
            localPart: string;
            displayName?: string;
            outboundSignature?: string;
            senderPolicy?: {
                mode?: "anyone" | "authenticated" | "listed";
                allow?: string[];
                block?: string[];
            };
            metadata?: {
                [key: string]: string | null;
            };
        };
        Mailbox: {
            mailboxId: string;
            address: string;
            localPart: string;
            displayName: string | null;
            outboundSignature: string | null;
            active: boolean;
            senderPolicy: components["schemas"]["SenderPolicy"];
            metadata: {
                [key: string]: string;
            };
            refused: {
                header_malformed?: number;
                header_too_large?: number;
                mailbox_full?: number;
                message_too_large?: number;
                no_single_author?: number;
                sender_refused?: number;
                sender_unchecked?: number;
                tenant_suspended?: number;
                too_much_mail?: number;
            };
            createdAt: string;
            updatedAt: string;
        };
        SenderPolicy: {
            mode: "anyone" | "authenticated" | "listed";
            allow: string[];
            block: string[];
        };
        Authentication: {
            accessToken?: string;
            next?: components["schemas"]["NextCall"];
            message?: string;
        };
        UpdateMailboxInput: {
            mailboxId: string;
            displayName?: string;
            outboundSignature?: string;
            active?: boolean;
            senderPolicy?: {
                mode?: "anyone" | "authenticated" | "listed";
                allow?: string[];
                block?: string[];
            };
            metadata?: {
                [key: string]: string | null;
            };
        };
        DeleteMailboxInput: {
            mailboxId: string;
        };
        SendMessageInput: {
            mailboxId: string;
            to?: string[];
            cc?: string[];
            bcc?: string[];
            replyTo?: string[];
            subject?: string;
            text: string;
            html?: string;
            inReplyTo?: string;
            forwards?: string;
            forwardAttachments?: boolean;
            replyAll?: boolean;
            automatic?: boolean;
            sendAt?: string;
            attachments?: {
                filename: string;
                contentType: string;
                contentBase64: string;
                contentId?: string;
            }[];
        };
        Message: {
            messageId: string;
            threadId: string;
            mailboxId: string;
            direction: "inbound" | "outbound";
            from: string;
            sender: {
                address: string;
                name: string | null;
            };
            to: string[];
            cc: string[];
            bcc: string[];
            replyTo: string[];
            subject: string;
            snippet: string;
            messageIdHeader: string | null;
            inReplyTo: string | null;
            references: string[];
            attachments: components["schemas"]["Attachment"][];
            automatic: "auto_replied" | "auto_generated" | "mailing_list" | "bulk" | "no_auto_reply" | "null_sender" | null;
            mailingList: components["schemas"]["MailingList"] | null;
            authentication: components["schemas"]["SenderAuthentication"] | null;
            malformed: boolean;
            truncated: boolean;
            status: "received" | "queued" | "sent" | "delivered" | "bounced" | "complained" | "failed" | "scheduled" | "canceled";
            recipients: components["schemas"]["Recipient"][];
            labels: string[];
            unread: boolean;
            sendAt: string | null;
            createdAt: string;
            text: string | null;
            html: string | null;
            extractedText: string | null;
            hasOmittedText: boolean;
            oneTimeCode: string | null;
            confirmationLink: string | null;
            links: components["schemas"]["MailLink"][];
        };
        Attachment: {
            attachmentId: string;
            filename: string | null;
            contentType: string;
            sizeBytes: number;
            sha256: string;
            contentId: string | null;
            disposition: "inline" | "attachment";
        };
        MailingList: {
            listId: string | null;
            post: string | null;
            unsubscribe: string[];
            oneClick: boolean;
        };
        Recipient: {
            address: string;
            name: string | null;
            kind: "to" | "cc" | "bcc";
            status: "received" | "queued" | "sent" | "delivered" | "bounced" | "complained" | "failed" | "scheduled" | "canceled" | "unknown";
            reason: string | null;
        };
        MailLink: {
            text: string;
            url: string;
        };
        MessagePage: {
            items: components["schemas"]["MessageSummary"][];
            nextCursor: string | null;
        };
        MessageSummary: {
            messageId: string;
            threadId: string;
            mailboxId: string;
            direction: "inbound" | "outbound";
            from: string;
            sender: {
                address: string;
                name: string | null;
            };
            to: string[];
            cc: string[];
            bcc: string[];
            replyTo: string[];
            subject: string;
            snippet: string;
            messageIdHeader: string | null;
            inReplyTo: string | null;
            references: string[];
            attachments: components["schemas"]["Attachment"][];
            automatic: "auto_replied" | "auto_generated" | "mailing_list" | "bulk" | "no_auto_reply" | "null_sender" | null;
            mailingList: components["schemas"]["MailingList"] | null;
            authentication: components["schemas"]["SenderAuthentication"] | null;
            malformed: boolean;
            truncated: boolean;
            status: "received" | "queued" | "sent" | "delivered" | "bounced" | "complained" | "failed" | "scheduled" | "canceled";
            recipients: components["schemas"]["Recipient"][];
            labels: string[];
            unread: boolean;
            sendAt: string | null;
            createdAt: string;
        };
        SingleMessage: {
            message: components["schemas"]["Message"];
        };
        PurchaseNumberInput: {
            agentName: string;
            agentWebhookUrl: string;
            areaCode?: string;
            description?: string;
            beginMessage?: string;
            voice?: string;
            language?: string;
        };
        PhoneNumber: {
            phoneNumberId: string;
            agentId: string;
            number: string;
            country: "US" | "CA";
            agentName: string;
            agentWebhookUrl: string;
            description: string | null;
            beginMessage: string | null;
            voice: string | null;
            language: string | null;
            status: "active" | "expiring" | "suspended" | "released";
            entitlement: {
                startedAt: string;
                expiresAt: string;
                secondsRemaining: number;
            };
            inboundAllowance: {
                purchasedSeconds: number;
                usedSeconds: number;
                remainingSeconds: number;
            };
            createdAt: string;
            releasedAt: string | null;
        };
        NumberIdInput: {
            phoneNumberId: string;
        };
        PlaceCallInput: {
            phoneNumberId: string;
            toNumber: string;
            initialGreeting?: string;
        };
        Call: {
            callId: string;
            phoneNumberId: string;
            direction: "inbound" | "outbound";
            fromNumber: string | null;
            fromWithheld: "anonymous" | "restricted" | "unavailable" | "unknown" | null;
            toNumber: string;
            status: "queued" | "ringing" | "in_progress" | "ended";
            endReason: "completed" | "hangup_agent" | "time_limit" | "no_answer" | "busy" | "failed" | "allowance_exhausted" | null;
            answeredBy: "person" | "machine" | "fax" | null;
            authorizedSeconds: number;
            connectedSeconds: number;
            createdAt: string;
            answeredAt: string | null;
            endedAt: string | null;
        };
        CallIdInput: {
            callId: string;
        };
        ReleaseNumberInput: {
            phoneNumberId: string;
            confirmRelease: true;
        };
        Transcript: {
            callId: string;
            complete: boolean;
            turns: {
                role: "agent" | "caller" | "system";
                text: string;
                at: string;
            }[];
        };
        ListEventsInput: {
            status?: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            types?: string[];
            agentId?: string;
            service?: string;
            resourceId?: string;
            from?: string;
            to?: string;
            limit?: number;
            cursor?: string;
        };
        EventIdInput: {
            eventId: string;
        };
        AcknowledgeAllInput: {
            before: string;
            types?: string[];
            service?: string;
        };
        Voice: {
            voice: string;
            language: string;
            vendor: string;
        };
        SetEventWebhookInput: {
            url: string;
            types?: ("email.received" | "phone.call.started" | "phone.call.ended" | "phone.number.expiring" | "phone.number.renewed" | "phone.number.released" | "phone.number.suspended" | "phone.number.reconciled" | "payment.completed" | "payment.failed" | "payment.refunded" | "events.webhook.paused")[];
            rotateSecret?: boolean;
        };
        EventWebhook: {
            webhookId: string;
            url: string;
            types: ("email.received" | "phone.call.started" | "phone.call.ended" | "phone.number.expiring" | "phone.number.renewed" | "phone.number.released" | "phone.number.suspended" | "phone.number.reconciled" | "payment.completed" | "payment.failed" | "payment.refunded" | "events.webhook.paused")[] | null;
            status: "active" | "paused";
            previousSecretValidUntil: string | null;
            createdAt: string;
            updatedAt: string;
            pausedAt: string | null;
        };
        WebhookDelivery: {
            deliveryId: string;
            eventId: string;
            type: "email.received" | "phone.call.started" | "phone.call.ended" | "phone.number.expiring" | "phone.number.renewed" | "phone.number.released" | "phone.number.suspended" | "phone.number.reconciled" | "payment.completed" | "payment.failed" | "payment.refunded" | "events.webhook.paused";
            attempt: number;
            createdAt: string;
            durationMillis: number;
            outcome: "succeeded" | "failed";
            responseStatus: number | null;
            error: string | null;
            nextAttemptAt: string | null;
        };
        ThreadPage: {
            items: components["schemas"]["Thread"][];
            nextCursor: string | null;
        };
        Thread: {
            threadId: string;
            mailboxId: string;
            subject: string;
            participants: string[];
            messageCount: number;
            unreadCount: number;
            hasAttachments: boolean;
            labels: string[];
            lastMessageId: string;
            snippet: string;
            firstMessageAt: string;
            lastMessageAt: string;
        };
        SingleThread: {
            thread: components["schemas"]["Thread"];
            messages: components["schemas"]["MessageSummary"][];
            nextCursor: string | null;
        };
        UpdateMessagesInput: {
            messageIds: string[];
            addLabels?: string[];
            removeLabels?: string[];
            unread?: boolean;
        };
        CancelMessageInput: {
            messageId: string;
        };
        Suppression: {
            address: string;
            reason: "bounced" | "complained";
            createdAt: string;
        };
        LiftSuppressionInput: {
            address: string;
        };
        PaymentNetwork: {
            network: string;
            asset: string;
            name: string | null;
            symbol: string;
            transferMethod: string | null;
            decimals: number;
            payTo: string;
            balance?: components["schemas"]["TokenAmount"] | null;
            allowance?: components["schemas"]["TokenAmount"] | null;
            permitNonce?: string | null;
            reason?: string;
        };
        TokenAmount: {
            amount: string;
            baseUnits: string;
        };
        PaymentStatus: {
            operationId: string | null;
            serviceId: components["schemas"]["ServiceId"] | null;
            paymentState: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
            network: string;
            price: components["schemas"]["Price"] | null;
            baseUnits: string;
            token: string;
            symbol: string;
            /** @deprecated */
            asset: string;
            /** @deprecated */
            amount: string;
            transaction: string | null;
            refund: {
                amount: components["schemas"]["Price"] | null;
                transaction: string;
            } | null;
            reason: {
                kind: "used_before" | "settled_elsewhere" | "refused" | "expired" | "used_otherwise" | "rejected" | "gone" | "late" | "canceled";
                message: string;
            } | null;
            receipt: string | null;
            createdAt: string | null;
            updatedAt: string | null;
            advice: "pay" | "retry_same" | "wait" | "done";
            retryAfterSeconds?: number;
        };
        Limit: {
            name: "mailbox_messages" | "mailbox_bytes" | "mail_messages" | "mail_bytes" | "mail_inbound_per_hour" | "mail_recipients_per_day" | "calls_at_once" | "calls_at_once_per_number" | "calls_per_hour" | "calls_to_one_number" | "calls_short";
            scope: "wallet" | "mailbox" | "number" | "recipient";
            description: string;
            limit: number | null;
            used: number | null;
            resetsAt: string | null;
        };
        SendingPause: {
            until: string;
            reason: "bounced" | "complained";
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}

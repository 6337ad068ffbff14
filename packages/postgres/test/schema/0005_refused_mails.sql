alter table mailboxes add column refused text;


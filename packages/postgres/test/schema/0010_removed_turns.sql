alter table calls add column turns_removed boolean;


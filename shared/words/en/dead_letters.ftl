# A dead letter that stands for all further ones
only_counted = beyond { $limit } different ones of this sender: only counted

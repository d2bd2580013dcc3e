listWords-between = 、
listWords-to = ～
